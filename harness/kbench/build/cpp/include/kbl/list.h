// Operators whose signature is one of a few families. Included several times: each reader defines what a family means.
// `name` is both the function `at::name` and the method of that name.
KBL_UNARY(abs) KBL_UNARY(ceil) KBL_UNARY(cos) KBL_UNARY(erf) KBL_UNARY(exp) KBL_UNARY(floor) KBL_UNARY(isfinite)
KBL_UNARY(isinf) KBL_UNARY(isnan) KBL_UNARY(log) KBL_UNARY(log1p) KBL_UNARY(log2) KBL_UNARY(logical_not)
KBL_UNARY(neg) KBL_UNARY(reciprocal) KBL_UNARY(relu) KBL_UNARY(round) KBL_UNARY(rsqrt) KBL_UNARY(sigmoid)
KBL_UNARY(sign) KBL_UNARY(sin) KBL_UNARY(sqrt) KBL_UNARY(square) KBL_UNARY(t) KBL_UNARY(tan) KBL_UNARY(tanh)
KBL_UNARY(detach) KBL_UNARY(all) KBL_UNARY(any) KBL_UNARY(nonzero)
KBL_UNARY_IN_PLACE(zero_) KBL_UNARY_IN_PLACE(abs_) KBL_UNARY_IN_PLACE(exp_) KBL_UNARY_IN_PLACE(relu_)
KBL_UNARY_IN_PLACE(sigmoid_) KBL_UNARY_IN_PLACE(sqrt_) KBL_UNARY_IN_PLACE(tanh_) KBL_UNARY_IN_PLACE(neg_)
KBL_BINARY(matmul) KBL_BINARY(mm) KBL_BINARY(bmm) KBL_BINARY(mv) KBL_BINARY(dot) KBL_BINARY(maximum)
KBL_BINARY(minimum) KBL_BINARY(expand_as) KBL_BINARY(view_as) KBL_BINARY(reshape_as) KBL_BINARY(type_as)
KBL_BINARY(bitwise_and) KBL_BINARY(bitwise_or) KBL_BINARY(logical_and) KBL_BINARY(logical_or) KBL_BINARY(outer)
KBL_COMPARE(eq) KBL_COMPARE(ne) KBL_COMPARE(lt) KBL_COMPARE(le) KBL_COMPARE(gt) KBL_COMPARE(ge)
KBL_REDUCE(sum) KBL_REDUCE(mean)
KBL_EXTREME(max) KBL_EXTREME(min)
KBL_ALONG(softmax) KBL_ALONG(log_softmax) KBL_ALONG(cumsum)
KBL_FACTORY(zeros) KBL_FACTORY(ones) KBL_FACTORY(rand) KBL_FACTORY(randn)
KBL_LIKE(empty_like) KBL_LIKE(zeros_like) KBL_LIKE(ones_like) KBL_LIKE(rand_like) KBL_LIKE(randn_like)
KBL_CONV(conv1d) KBL_CONV(conv2d) KBL_CONV(conv3d)
KBL_CONV_TRANSPOSE(conv_transpose1d) KBL_CONV_TRANSPOSE(conv_transpose2d) KBL_CONV_TRANSPOSE(conv_transpose3d)
#undef KBL_UNARY
#undef KBL_UNARY_IN_PLACE
#undef KBL_BINARY
#undef KBL_COMPARE
#undef KBL_REDUCE
#undef KBL_EXTREME
#undef KBL_ALONG
#undef KBL_FACTORY
#undef KBL_LIKE
#undef KBL_CONV
#undef KBL_CONV_TRANSPOSE
