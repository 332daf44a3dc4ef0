// The glue's tensors: each C symbol is one call of torch's own C++ interface.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/util/ParallelGuard.h>
#include <kbl/abi.h>

namespace {

using Impl = c10::TensorImpl;
using Pointer = c10::intrusive_ptr<Impl, c10::UndefinedTensorImpl>;

// A handle is the one pointer that a tensor consists of. An absent one reads as an undefined tensor.
const at::Tensor& T(void* const& handle) {
  static_assert(sizeof(at::Tensor) == sizeof(void*));
  static const at::Tensor undefined;
  return handle ? reinterpret_cast<const at::Tensor&>(handle) : undefined;
}
void* give(at::Tensor t) { return t.defined() ? t.unsafeReleaseTensorImpl() : nullptr; }
void give(std::tuple<at::Tensor, at::Tensor> pair, void** out) {
  out[0] = give(std::move(std::get<0>(pair)));
  out[1] = give(std::move(std::get<1>(pair)));
}
void give(std::vector<at::Tensor> list, void (*add)(void*, void*), void* parts) {
  for (auto& part : list) add(parts, give(std::move(part)));
}
at::IntArrayRef I(const kbl_ints& v) { return {v.data, v.size}; }
at::OptionalIntArrayRef OI(const kbl_ints& v) { return v.given ? at::OptionalIntArrayRef(I(v)) : std::nullopt; }
at::Scalar S(const kbl_scalar& v) {
  switch (v.kind) {
    case kbl_scalar::boolean:
      return at::Scalar(v.i != 0);
    case kbl_scalar::integer:
      return at::Scalar(v.i);
    default:
      return at::Scalar(v.d);
  }
}
std::vector<at::Tensor> L(const kbl_tensors& v) {
  std::vector<at::Tensor> list;
  for (size_t i = 0; i < v.size; ++i) list.push_back(T(v.data[i]));
  return list;
}
// Torch's number for no type changes as types are added; ours does not.
constexpr int no_dtype = 127;
int out(at::ScalarType t) { return t == at::ScalarType::Undefined ? no_dtype : (int)t; }
at::ScalarType in(int t) { return t == no_dtype ? at::ScalarType::Undefined : (at::ScalarType)t; }
std::optional<at::Tensor> OT(void* const& t) { return t ? std::make_optional(T(t)) : std::nullopt; }
std::optional<at::ScalarType> D(int t) { return t < 0 ? std::nullopt : std::make_optional((at::ScalarType)t); }
std::optional<at::MemoryFormat> F(int f) { return f < 0 ? std::nullopt : std::make_optional((at::MemoryFormat)f); }

at::TensorOptions O(const kbl_options& v) {
  at::TensorOptions o;
  if (v.dtype >= 0) o = o.dtype((at::ScalarType)v.dtype);
  if (v.device_type >= 0) o = o.device((at::DeviceType)v.device_type, v.device_index);
  if (v.layout >= 0) o = o.layout((at::Layout)v.layout);
  if (v.pinned >= 0) o = o.pinned_memory(v.pinned != 0);
  if (v.memory_format >= 0) o = o.memory_format((at::MemoryFormat)v.memory_format);
  return o;
}
at::Tensor marked(at::Tensor t, const kbl_options& o) {
  if (o.requires_grad > 0) t.set_requires_grad(true);
  return t;
}
void* data(void* handle, int type) {
  TORCH_CHECK((int)T(handle).scalar_type() == type, "expected scalar type ", (at::ScalarType)type, " but found ",
              T(handle).scalar_type());
  return T(handle).mutable_data_ptr();
}

}  // namespace

extern "C" {
void kbl_retain(void* t) { at::Tensor(T(t)).unsafeReleaseTensorImpl(); }
void kbl_release(void* t) noexcept { at::Tensor owned(Pointer::reclaim(static_cast<Impl*>(t))); }
int64_t kbl_use_count(void* t) { return t ? (int64_t)T(t).use_count() : 0; }
int64_t kbl_dim(void* t) { return T(t).dim(); }
int64_t kbl_numel(void* t) { return T(t).numel(); }
int64_t kbl_size(void* t, int64_t d) { return T(t).size(d); }
int64_t kbl_stride(void* t, int64_t d) { return T(t).stride(d); }
const int64_t* kbl_sizes(void* t) { return T(t).sizes().data(); }
const int64_t* kbl_strides(void* t) { return T(t).strides().data(); }
int64_t kbl_element_size(void* t) { return (int64_t)T(t).element_size(); }
int64_t kbl_storage_offset(void* t) { return T(t).storage_offset(); }
int kbl_dtype(void* t) { return out(T(t).scalar_type()); }
bool kbl_is_cuda(void* t) { return T(t).is_cuda(); }
bool kbl_is_cpu(void* t) { return T(t).is_cpu(); }
int kbl_device_type(void* t) { return (int)T(t).device().type(); }
int kbl_device_index(void* t) { return T(t).device().index(); }
int kbl_layout(void* t) { return (int)T(t).layout(); }
bool kbl_requires_grad(void* t) { return T(t).requires_grad(); }
void kbl_set_requires_grad(void* t, bool value) { T(t).set_requires_grad(value); }
bool kbl_is_contiguous(void* t, int f) { return T(t).is_contiguous((at::MemoryFormat)f); }
bool kbl_is_non_overlapping_and_dense(void* t) { return T(t).is_non_overlapping_and_dense(); }
int kbl_suggest_memory_format(void* t) { return (int)T(t).suggest_memory_format(); }
void* kbl_data(void* t, int dtype) { return data(t, dtype); }
void* kbl_const_data(void* t, int dtype) {
  TORCH_CHECK((int)T(t).scalar_type() == dtype, "expected scalar type ", (at::ScalarType)dtype, " but found ",
              T(t).scalar_type());
  return const_cast<void*>(T(t).const_data_ptr());
}
void* kbl_raw_data(void* t) { return T(t).data_ptr(); }
kbl_scalar kbl_item(void* t) {
  auto v = T(t).item();
  if (v.isBoolean()) return {kbl_scalar::boolean, v.toBool(), 0.0};
  if (v.isIntegral(false)) return {kbl_scalar::integer, v.toLong(), 0.0};
  return {kbl_scalar::floating, 0, v.toDouble()};
}
size_t kbl_dtype_size(int t) { return c10::elementSize(in(t)); }
bool kbl_dtype_is_floating(int t) { return c10::isFloatingType(in(t)); }
const char* kbl_dtype_text(int t) { return c10::toString(in(t)); }
const char* kbl_dtype_name(int t) {
  thread_local std::string text;
  text = std::string(in(t) == at::ScalarType::Undefined ? caffe2::TypeMeta().name() : c10::scalarTypeToTypeMeta(in(t)).name());
  return text.c_str();
}
const char* kbl_device_text(int type) {
  thread_local std::string text;
  text = c10::DeviceTypeName((c10::DeviceType)type, true);
  return text.c_str();
}
void kbl_device_parse(const char* text, int* type, int* index) {
  c10::Device device{std::string(text)};
  *type = (int)device.type();
  *index = device.index();
}
int kbl_default_dtype() { return (int)c10::typeMetaToScalarType(at::get_default_dtype()); }
bool kbl_set_grad_mode(bool enabled) {
  bool before = c10::GradMode::is_enabled();
  c10::GradMode::set_enabled(enabled);
  return before;
}

void kbl_fail(int kind, const char* function, const char* file, uint32_t line, const char* message) {
  const c10::SourceLocation where{function, file, line};
  switch (kind) {
    case 1:
      throw c10::IndexError(where, message);
    case 2:
      throw c10::ValueError(where, message);
    case 3:
      throw c10::TypeError(where, message);
    case 4:
      throw c10::NotImplementedError(where, message);
    default:
      throw c10::Error(where, message);
  }
}
void kbl_warn(const char* function, const char* file, uint32_t line, const char* message) {
  c10::warn(c10::Warning(c10::UserWarning(), {function, file, line}, std::string(message), false));
}

int kbl_num_threads() { return at::get_num_threads(); }
int kbl_thread_num() { return at::get_thread_num(); }
void kbl_set_thread_num(int number) { at::internal::set_thread_num(number); }
bool kbl_in_parallel_region() { return at::in_parallel_region(); }
bool kbl_parallel_guard(bool enabled) {
  // The guard's own state is private; on the heap it outlives this call until the next one ends it.
  thread_local std::optional<c10::ParallelGuard> held;
  bool before = c10::ParallelGuard::is_enabled();
  held.reset();
  if (enabled) held.emplace(true);
  return before;
}
void kbl_set_num_threads(int count) { at::set_num_threads(count); }

#define KBL_UNARY(name) \
  void* kbl_##name(void* a) { return give(T(a).name()); }
#define KBL_UNARY_IN_PLACE(name) \
  void kbl_##name(void* a) { T(a).name(); }
#define KBL_BINARY(name) \
  void* kbl_##name(void* a, void* b) { return give(T(a).name(T(b))); }
#define KBL_COMPARE(name)                                              \
  void* kbl_##name(void* a, void* b) { return give(T(a).name(T(b))); } \
  void* kbl_##name##_scalar(void* a, kbl_scalar b) { return give(T(a).name(S(b))); }
#define KBL_REDUCE(name)                                             \
  void* kbl_##name(void* a, kbl_ints dims, bool keep, int dtype) {   \
    return give(T(a).name(OI(dims), keep, D(dtype)));                \
  }
#define KBL_EXTREME(name)                                              \
  void* kbl_##name(void* a) { return give(T(a).name()); }              \
  void kbl_##name##_dim(void* a, int64_t dim, bool keep, void** out) { give(T(a).name(dim, keep), out); }
#define KBL_ALONG(name) \
  void* kbl_##name(void* a, int64_t dim, int dtype) { return give(T(a).name(dim, D(dtype))); }
#define KBL_FACTORY(name) \
  void* kbl_##name(kbl_ints size, kbl_options o) { return give(marked(at::name(I(size), O(o)), o)); }
#define KBL_LIKE(name) \
  void* kbl_##name(void* a, kbl_options o) { return give(marked(at::name(T(a), O(o)), o)); }
#define KBL_CONV(name)                                                                                       \
  void* kbl_##name(void* x, void* w, void* b, kbl_ints stride, kbl_ints padding, kbl_ints dilation,           \
                   int64_t groups) {                                                                         \
    return give(at::name(T(x), T(w), OT(b), I(stride), I(padding), I(dilation), groups));                    \
  }
#define KBL_CONV_TRANSPOSE(name)                                                                             \
  void* kbl_##name(void* x, void* w, void* b, kbl_ints stride, kbl_ints padding, kbl_ints output_padding,     \
                   int64_t groups, kbl_ints dilation) {                                                      \
    return give(at::name(T(x), T(w), OT(b), I(stride), I(padding), I(output_padding), groups, I(dilation))); \
  }
#include <kbl/list.h>

void* kbl_full(kbl_ints size, kbl_scalar value, kbl_options o) { return give(marked(at::full(I(size), S(value), O(o)), o)); }
void* kbl_full_like(void* a, kbl_scalar value, kbl_options o) {
  return give(marked(at::full_like(T(a), S(value), O(o)), o));
}
void* kbl_empty_strided(kbl_ints size, kbl_ints stride, kbl_options o) {
  return give(marked(at::empty_strided(I(size), I(stride), O(o)), o));
}
void* kbl_arange(kbl_scalar start, kbl_scalar end, kbl_scalar step, kbl_options o) {
  return give(marked(at::arange(S(start), S(end), S(step), O(o)), o));
}
void* kbl_empty(kbl_ints size, kbl_options o) { return give(marked(at::empty(I(size), O(o)), o)); }
void* kbl_from_blob(void* data, kbl_ints size, kbl_ints stride, kbl_options o) {
  auto made = stride.given ? at::from_blob(data, I(size), I(stride), O(o)) : at::from_blob(data, I(size), O(o));
  return give(marked(made, o));
}
void* kbl_to(void* a, kbl_options o, bool non_blocking, bool copy) {
  auto format = F(o.memory_format);
  o.memory_format = -1;
  auto options = o.requires_grad < 0 ? O(o) : O(o).requires_grad(o.requires_grad != 0);
  return give(T(a).to(options, non_blocking, copy, format));
}
void* kbl_contiguous(void* a, int f) { return give(T(a).contiguous((at::MemoryFormat)f)); }
void* kbl_clone(void* a, int f) { return give(T(a).clone(F(f))); }
void* kbl_view(void* a, kbl_ints size) { return give(T(a).view(I(size))); }
void* kbl_view_dtype(void* a, int dtype) { return give(T(a).view((at::ScalarType)dtype)); }
void* kbl_reshape(void* a, kbl_ints size) { return give(T(a).reshape(I(size))); }
void* kbl_expand(void* a, kbl_ints size, bool implicit) { return give(T(a).expand(I(size), implicit)); }
void* kbl_permute(void* a, kbl_ints dims) { return give(T(a).permute(I(dims))); }
void* kbl_repeat(void* a, kbl_ints repeats) { return give(T(a).repeat(I(repeats))); }
void* kbl_flip(void* a, kbl_ints dims) { return give(T(a).flip(I(dims))); }
void* kbl_transpose(void* a, int64_t d0, int64_t d1) { return give(T(a).transpose(d0, d1)); }
void* kbl_flatten(void* a, int64_t start, int64_t end) { return give(T(a).flatten(start, end)); }
void* kbl_squeeze(void* a) { return give(T(a).squeeze()); }
void* kbl_squeeze_dim(void* a, int64_t dim) { return give(T(a).squeeze(dim)); }
void* kbl_unsqueeze(void* a, int64_t dim) { return give(T(a).unsqueeze(dim)); }
void* kbl_narrow(void* a, int64_t dim, int64_t start, int64_t length) { return give(T(a).narrow(dim, start, length)); }
void* kbl_select(void* a, int64_t dim, int64_t index) { return give(T(a).select(dim, index)); }
void* kbl_slice(void* a, int64_t dim, bool has_start, int64_t start, bool has_end, int64_t end, int64_t step) {
  auto first = has_start ? std::make_optional(start) : std::nullopt;
  auto last = has_end ? std::make_optional(end) : std::nullopt;
  return give(T(a).slice(dim, first, last, step));
}
void* kbl_as_strided(void* a, kbl_ints size, kbl_ints stride, bool has_offset, int64_t offset) {
  return give(T(a).as_strided(I(size), I(stride), has_offset ? std::make_optional(offset) : std::nullopt));
}
void* kbl_index_select(void* a, int64_t dim, void* index) { return give(T(a).index_select(dim, T(index))); }
void* kbl_gather(void* a, int64_t dim, void* index, bool sparse) { return give(T(a).gather(dim, T(index), sparse)); }
void* kbl_scatter_add(void* a, int64_t dim, void* index, void* source) {
  return give(T(a).scatter_add(dim, T(index), T(source)));
}
void* kbl_cat(kbl_tensors list, int64_t dim) { return give(at::cat(L(list), dim)); }
void* kbl_stack(kbl_tensors list, int64_t dim) { return give(at::stack(L(list), dim)); }
void kbl_split(void* a, int64_t size, int64_t dim, void (*add)(void*, void*), void* parts) {
  give(T(a).split(size, dim), add, parts);
}
void kbl_chunk(void* a, int64_t chunks, int64_t dim, void (*add)(void*, void*), void* parts) {
  give(T(a).chunk(chunks, dim), add, parts);
}
void kbl_unbind(void* a, int64_t dim, void (*add)(void*, void*), void* parts) { give(T(a).unbind(dim), add, parts); }
void* kbl_add(void* a, void* b, kbl_scalar alpha) { return give(T(a).add(T(b), S(alpha))); }
void* kbl_sub(void* a, void* b, kbl_scalar alpha) { return give(T(a).sub(T(b), S(alpha))); }
void* kbl_add_scalar(void* a, kbl_scalar b, kbl_scalar alpha) { return give(T(a).add(S(b), S(alpha))); }
void* kbl_sub_scalar(void* a, kbl_scalar b, kbl_scalar alpha) { return give(T(a).sub(S(b), S(alpha))); }
void* kbl_rsub_scalar(void* a, kbl_scalar b) { return give(S(b) - T(a)); }
void* kbl_mul(void* a, void* b) { return give(T(a).mul(T(b))); }
void* kbl_mul_scalar(void* a, kbl_scalar b) { return give(T(a).mul(S(b))); }
void* kbl_div(void* a, void* b) { return give(T(a).div(T(b))); }
void* kbl_div_scalar(void* a, kbl_scalar b) { return give(T(a).div(S(b))); }
void* kbl_scalar_div(kbl_scalar a, void* b) { return give(S(a) / T(b)); }
void kbl_add_(void* a, void* b, kbl_scalar alpha) { T(a).add_(T(b), S(alpha)); }
void kbl_sub_(void* a, void* b, kbl_scalar alpha) { T(a).sub_(T(b), S(alpha)); }
void kbl_add_scalar_(void* a, kbl_scalar b, kbl_scalar alpha) { T(a).add_(S(b), S(alpha)); }
void kbl_sub_scalar_(void* a, kbl_scalar b, kbl_scalar alpha) { T(a).sub_(S(b), S(alpha)); }
void kbl_mul_(void* a, void* b) { T(a).mul_(T(b)); }
void kbl_mul_scalar_(void* a, kbl_scalar b) { T(a).mul_(S(b)); }
void kbl_div_(void* a, void* b) { T(a).div_(T(b)); }
void kbl_div_scalar_(void* a, kbl_scalar b) { T(a).div_(S(b)); }
void kbl_copy_(void* a, void* b, bool non_blocking) { T(a).copy_(T(b), non_blocking); }
void kbl_fill_(void* a, kbl_scalar value) { T(a).fill_(S(value)); }
void kbl_fill_tensor_(void* a, void* value) { T(a).fill_(T(value)); }
void kbl_resize_(void* a, kbl_ints size) { T(a).resize_(I(size)); }
void* kbl_pow(void* a, kbl_scalar exponent) { return give(T(a).pow(S(exponent))); }
void* kbl_pow_tensor(void* a, void* exponent) { return give(T(a).pow(T(exponent))); }
void* kbl_clamp(void* a, bool has_min, kbl_scalar min, bool has_max, kbl_scalar max) {
  return give(T(a).clamp(has_min ? std::make_optional(S(min)) : std::nullopt,
                         has_max ? std::make_optional(S(max)) : std::nullopt));
}
void* kbl_clamp_min(void* a, kbl_scalar min) { return give(T(a).clamp_min(S(min))); }
void* kbl_clamp_max(void* a, kbl_scalar max) { return give(T(a).clamp_max(S(max))); }
void* kbl_leaky_relu(void* a, kbl_scalar slope) { return give(at::leaky_relu(T(a), S(slope))); }
void* kbl_gelu(void* a, const char* approximate, size_t size) {
  return give(at::gelu(T(a), std::string_view(approximate, size)));
}
void* kbl_masked_fill(void* a, void* mask, kbl_scalar value) { return give(T(a).masked_fill(T(mask), S(value))); }
void* kbl_where(void* condition, void* a, void* b) { return give(at::where(T(condition), T(a), T(b))); }
void* kbl_argmax(void* a, bool has_dim, int64_t dim, bool keep) {
  return give(T(a).argmax(has_dim ? std::make_optional(dim) : std::nullopt, keep));
}
void* kbl_argmin(void* a, bool has_dim, int64_t dim, bool keep) {
  return give(T(a).argmin(has_dim ? std::make_optional(dim) : std::nullopt, keep));
}
void* kbl_all_sum(void* a, int dtype) { return give(T(a).sum(D(dtype))); }
void* kbl_all_mean(void* a, int dtype) { return give(T(a).mean(D(dtype))); }
void kbl_var_mean(void* a, kbl_ints dims, bool unbiased, bool keep, void** out) {
  give(at::var_mean(T(a), OI(dims), unbiased, keep), out);
}
void* kbl_norm(void* a, kbl_scalar p) { return give(T(a).norm(S(p))); }
void kbl_topk(void* a, int64_t k, int64_t dim, bool largest, bool sorted, void** out) {
  give(T(a).topk(k, dim, largest, sorted), out);
}
void kbl_sort(void* a, int64_t dim, bool descending, void** out) { give(T(a).sort(dim, descending), out); }
void* kbl_linear(void* x, void* w, void* b) { return give(at::linear(T(x), T(w), OT(b))); }
void* kbl_addmm(void* c, void* a, void* b, kbl_scalar beta, kbl_scalar alpha) {
  return give(at::addmm(T(c), T(a), T(b), S(beta), S(alpha)));
}
void kbl_addmm_(void* c, void* a, void* b, kbl_scalar beta, kbl_scalar alpha) {
  T(c).addmm_(T(a), T(b), S(beta), S(alpha));
}
void* kbl_baddbmm(void* c, void* a, void* b, kbl_scalar beta, kbl_scalar alpha) {
  return give(at::baddbmm(T(c), T(a), T(b), S(beta), S(alpha)));
}
void kbl_matmul_out(void* out, void* a, void* b, int which) {
  auto result = T(out);
  if (which == 0) at::matmul_out(result, T(a), T(b));
  if (which == 1) at::mm_out(result, T(a), T(b));
  if (which == 2) at::bmm_out(result, T(a), T(b));
}
void* kbl_layer_norm(void* x, kbl_ints shape, void* w, void* b, double eps) {
  return give(at::layer_norm(T(x), I(shape), OT(w), OT(b), eps));
}
void* kbl_group_norm(void* x, int64_t groups, void* w, void* b, double eps) {
  return give(at::group_norm(T(x), groups, OT(w), OT(b), eps));
}
void* kbl_triu(void* a, int64_t diagonal) { return give(T(a).triu(diagonal)); }
void* kbl_tril(void* a, int64_t diagonal) { return give(T(a).tril(diagonal)); }
void* kbl_embedding(void* weight, void* indices) { return give(at::embedding(T(weight), T(indices))); }
void* kbl_one_hot(void* a, int64_t classes) { return give(at::one_hot(T(a), classes)); }
void* kbl_pad(void* a, kbl_ints pad, kbl_scalar value) { return give(at::constant_pad_nd(T(a), I(pad), S(value))); }
}
