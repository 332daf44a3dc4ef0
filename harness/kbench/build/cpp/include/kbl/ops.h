// The functions of at:: and torch::, each a call of the glue.
#pragma once
#include <kbl/tensor.h>

#pragma GCC visibility push(hidden)

namespace at {
inline namespace kbl1 {

using impl::handle;
using impl::take;

#define KBL_UNARY(name) \
  inline Tensor name(const Tensor& a) { return a.name(); }
#define KBL_UNARY_IN_PLACE(name) \
  inline Tensor& name(Tensor& a) { return a.name(); }
#define KBL_BINARY(name) \
  inline Tensor name(const Tensor& a, const Tensor& b) { return a.name(b); }
#define KBL_COMPARE(name)                                                      \
  inline Tensor name(const Tensor& a, const Tensor& b) { return a.name(b); }   \
  inline Tensor name(const Tensor& a, const Scalar& b) { return a.name(b); }
#define KBL_REDUCE(name)                                                                                   \
  inline Tensor name(const Tensor& a, std::optional<ScalarType> t = std::nullopt) { return a.name(t); }    \
  inline Tensor name(const Tensor& a, OptionalIntArrayRef dims, bool keep = false,                         \
                     std::optional<ScalarType> t = std::nullopt) {                                         \
    return a.name(dims, keep, t);                                                                          \
  }
#define KBL_EXTREME(name)                                                                              \
  inline Tensor name(const Tensor& a) { return a.name(); }                                             \
  inline std::tuple<Tensor, Tensor> name(const Tensor& a, int64_t d, bool keep = false) { return a.name(d, keep); }
#define KBL_ALONG(name)                                                                               \
  inline Tensor name(const Tensor& a, int64_t d, std::optional<ScalarType> t = std::nullopt) {        \
    return a.name(d, t);                                                                              \
  }
#define KBL_FACTORY(name)                                                                                 \
  inline Tensor name(IntArrayRef size, TensorOptions o = {}) { return take(kbl_##name(impl::ints(size), o.raw())); }
#define KBL_LIKE(name)                                                                                    \
  inline Tensor name(const Tensor& a, TensorOptions o = {}, std::optional<MemoryFormat> f = std::nullopt) { \
    return take(kbl_##name(handle(a), o.raw(f)));                                                         \
  }
#define KBL_CONV(name)                                                                                      \
  inline Tensor name(const Tensor& x, const Tensor& w, const std::optional<Tensor>& b = {},                 \
                     IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,             \
                     int64_t groups = 1) {                                                                  \
    return take(kbl_##name(handle(x), handle(w), handle(b), impl::ints(stride), impl::ints(padding),        \
                           impl::ints(dilation), groups));                                                  \
  }
#define KBL_CONV_TRANSPOSE(name)                                                                            \
  inline Tensor name(const Tensor& x, const Tensor& w, const std::optional<Tensor>& b = {},                 \
                     IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,       \
                     int64_t groups = 1, IntArrayRef dilation = 1) {                                        \
    return take(kbl_##name(handle(x), handle(w), handle(b), impl::ints(stride), impl::ints(padding),        \
                           impl::ints(output_padding), groups, impl::ints(dilation)));                      \
  }
#include <kbl/list.h>

inline Tensor empty(IntArrayRef size, TensorOptions o = {}, std::optional<MemoryFormat> f = std::nullopt) {
  return take(kbl_empty(impl::ints(size), o.raw(f)));
}
inline Tensor full(IntArrayRef size, const Scalar& value, TensorOptions o = {}) {
  return take(kbl_full(impl::ints(size), value, o.raw()));
}
inline Tensor full_like(const Tensor& a, const Scalar& value, TensorOptions o = {},
                        std::optional<MemoryFormat> f = std::nullopt) {
  return take(kbl_full_like(handle(a), value, o.raw(f)));
}
inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride, TensorOptions o = {}) {
  return take(kbl_empty_strided(impl::ints(size), impl::ints(stride), o.raw()));
}
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions o = {}) {
  return take(kbl_arange(start, end, step, o.raw()));
}
inline Tensor arange(const Scalar& start, const Scalar& end, TensorOptions o = {}) { return arange(start, end, 1, o); }
inline Tensor arange(const Scalar& end, TensorOptions o = {}) { return arange(0, end, 1, o); }
inline Tensor from_blob(void* data, IntArrayRef size, const TensorOptions& o = {}) {
  return take(kbl_from_blob(data, impl::ints(size), {nullptr, 0, false}, o.raw()));
}
inline Tensor from_blob(void* data, IntArrayRef size, IntArrayRef stride, const TensorOptions& o = {}) {
  return take(kbl_from_blob(data, impl::ints(size), impl::ints(stride), o.raw()));
}
inline Tensor cat(TensorList list, int64_t d = 0) { return take(kbl_cat(impl::list(list), d)); }
inline Tensor concat(TensorList list, int64_t d = 0) { return cat(list, d); }
inline Tensor stack(TensorList list, int64_t d = 0) { return take(kbl_stack(impl::list(list), d)); }
inline Tensor reshape(const Tensor& a, IntArrayRef size) { return a.reshape(size); }
inline Tensor permute(const Tensor& a, IntArrayRef dims) { return a.permute(dims); }
inline Tensor transpose(const Tensor& a, int64_t d0, int64_t d1) { return a.transpose(d0, d1); }
inline Tensor flatten(const Tensor& a, int64_t start = 0, int64_t end = -1) { return a.flatten(start, end); }
inline Tensor squeeze(const Tensor& a) { return a.squeeze(); }
inline Tensor squeeze(const Tensor& a, int64_t d) { return a.squeeze(d); }
inline Tensor unsqueeze(const Tensor& a, int64_t d) { return a.unsqueeze(d); }
inline Tensor narrow(const Tensor& a, int64_t d, int64_t start, int64_t length) { return a.narrow(d, start, length); }
inline Tensor select(const Tensor& a, int64_t d, int64_t index) { return a.select(d, index); }
inline Tensor index_select(const Tensor& a, int64_t d, const Tensor& index) { return a.index_select(d, index); }
inline Tensor gather(const Tensor& a, int64_t d, const Tensor& index, bool sparse = false) {
  return a.gather(d, index, sparse);
}
inline Tensor scatter_add(const Tensor& a, int64_t d, const Tensor& index, const Tensor& source) {
  return a.scatter_add(d, index, source);
}
inline Tensor flip(const Tensor& a, IntArrayRef dims) { return a.flip(dims); }
inline Tensor clone(const Tensor& a, std::optional<MemoryFormat> f = std::nullopt) { return a.clone(f); }
inline std::vector<Tensor> split(const Tensor& a, int64_t size, int64_t d = 0) { return a.split(size, d); }
inline std::vector<Tensor> chunk(const Tensor& a, int64_t chunks, int64_t d = 0) { return a.chunk(chunks, d); }
inline std::vector<Tensor> unbind(const Tensor& a, int64_t d = 0) { return a.unbind(d); }
#define KBL_ARITHMETIC(name)                                                                                  \
  inline Tensor name(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return a.name(b, alpha); }  \
  inline Tensor name(const Tensor& a, const Scalar& b, const Scalar& alpha = 1) { return a.name(b, alpha); }
KBL_ARITHMETIC(add) KBL_ARITHMETIC(sub)
#undef KBL_ARITHMETIC
inline Tensor mul(const Tensor& a, const Tensor& b) { return a.mul(b); }
inline Tensor mul(const Tensor& a, const Scalar& b) { return a.mul(b); }
inline Tensor div(const Tensor& a, const Tensor& b) { return a.div(b); }
inline Tensor div(const Tensor& a, const Scalar& b) { return a.div(b); }
inline Tensor pow(const Tensor& a, const Scalar& exponent) { return a.pow(exponent); }
inline Tensor pow(const Tensor& a, const Tensor& exponent) { return a.pow(exponent); }
inline Tensor clamp(const Tensor& a, const std::optional<Scalar>& low,
                    const std::optional<Scalar>& high = std::nullopt) {
  return a.clamp(low, high);
}
inline Tensor clamp_min(const Tensor& a, const Scalar& low) { return a.clamp_min(low); }
inline Tensor clamp_max(const Tensor& a, const Scalar& high) { return a.clamp_max(high); }
inline Tensor leaky_relu(const Tensor& a, const Scalar& slope = 0.01) {
  return take(kbl_leaky_relu(handle(a), slope));
}
inline Tensor gelu(const Tensor& a, std::string_view approximate = "none") {
  return take(kbl_gelu(handle(a), approximate.data(), approximate.size()));
}
inline Tensor masked_fill(const Tensor& a, const Tensor& mask, const Scalar& value) {
  return a.masked_fill(mask, value);
}
inline Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return take(kbl_where(handle(condition), handle(a), handle(b)));
}
inline Tensor argmax(const Tensor& a, std::optional<int64_t> d = std::nullopt, bool keep = false) {
  return a.argmax(d, keep);
}
inline Tensor argmin(const Tensor& a, std::optional<int64_t> d = std::nullopt, bool keep = false) {
  return a.argmin(d, keep);
}
inline Tensor norm(const Tensor& a, const Scalar& p = 2) { return a.norm(p); }
inline std::tuple<Tensor, Tensor> topk(const Tensor& a, int64_t k, int64_t d = -1, bool largest = true,
                                       bool sorted = true) {
  return a.topk(k, d, largest, sorted);
}
inline std::tuple<Tensor, Tensor> sort(const Tensor& a, int64_t d = -1, bool descending = false) {
  return a.sort(d, descending);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& a, OptionalIntArrayRef dims, bool unbiased = true,
                                           bool keep = false) {
  void* out[2] = {};
  kbl_var_mean(handle(a), dims.ints(), unbiased, keep, out);
  return {take(out[0]), take(out[1])};
}
inline Tensor linear(const Tensor& x, const Tensor& w, const std::optional<Tensor>& b = {}) {
  return take(kbl_linear(handle(x), handle(w), handle(b)));
}
inline Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
                    const Scalar& alpha = 1) {
  return c.addmm(a, b, beta, alpha);
}
inline Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
                      const Scalar& alpha = 1) {
  return take(kbl_baddbmm(handle(c), handle(a), handle(b), beta, alpha));
}
#define KBL_OUT(name, which)                                                          \
  inline Tensor& name##_out(Tensor& out, const Tensor& a, const Tensor& b) {          \
    kbl_matmul_out(handle(out), handle(a), handle(b), which);                         \
    return out;                                                                       \
  }
KBL_OUT(matmul, 0) KBL_OUT(mm, 1) KBL_OUT(bmm, 2)
#undef KBL_OUT
inline Tensor layer_norm(const Tensor& x, IntArrayRef shape, const std::optional<Tensor>& w = {},
                         const std::optional<Tensor>& b = {}, double eps = 1e-05, bool = true) {
  return take(kbl_layer_norm(handle(x), impl::ints(shape), handle(w), handle(b), eps));
}
inline Tensor group_norm(const Tensor& x, int64_t groups, const std::optional<Tensor>& w = {},
                         const std::optional<Tensor>& b = {}, double eps = 1e-05, bool = true) {
  return take(kbl_group_norm(handle(x), groups, handle(w), handle(b), eps));
}
inline Tensor triu(const Tensor& a, int64_t diagonal = 0) { return a.triu(diagonal); }
inline Tensor tril(const Tensor& a, int64_t diagonal = 0) { return a.tril(diagonal); }
inline Tensor embedding(const Tensor& weight, const Tensor& indices) {
  return take(kbl_embedding(handle(weight), handle(indices)));
}
inline Tensor one_hot(const Tensor& a, int64_t classes = -1) { return take(kbl_one_hot(handle(a), classes)); }
inline Tensor constant_pad_nd(const Tensor& a, IntArrayRef pad, const Scalar& value = 0) {
  return take(kbl_pad(handle(a), impl::ints(pad), value));
}

#define KBL_OPERATOR(op, name)                                                           \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return a.name(b); }      \
  inline Tensor operator op(const Tensor& a, const Scalar& b) { return a.name(b); }
KBL_OPERATOR(+, add) KBL_OPERATOR(-, sub) KBL_OPERATOR(*, mul) KBL_OPERATOR(/, div)
KBL_OPERATOR(==, eq) KBL_OPERATOR(!=, ne) KBL_OPERATOR(<, lt) KBL_OPERATOR(<=, le)
KBL_OPERATOR(>, gt) KBL_OPERATOR(>=, ge)
#undef KBL_OPERATOR
inline Tensor operator+(const Scalar& a, const Tensor& b) { return b.add(a); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return b.mul(a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return take(kbl_rsub_scalar(handle(b), a)); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return take(kbl_scalar_div(a, handle(b))); }

// No code of ours records gradients, but what it calls may.
class NoGradGuard {
 public:
  NoGradGuard() : before_(kbl_set_grad_mode(false)) {}
  ~NoGradGuard() { kbl_set_grad_mode(before_); }
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;

 private:
  bool before_;
};

// What the sources name and torch has, and we have not.
#define KBL_ABSENT(name)                                       \
  void name(const Tensor&) = delete;                           \
  void name(const Tensor&, const Tensor&) = delete;            \
  void name(const Tensor&, const Scalar&) = delete;            \
  template <class A, class B, class... More>                   \
  void name(const Tensor&, const A&, const B&, const More&...) = delete;
#include <kbl_absent.h>
#undef KBL_ABSENT

}  // namespace kbl1
}  // namespace at

#pragma GCC visibility pop
