// at::Tensor: an owned handle, every question about which is asked of the glue.
#pragma once
#include <kbl/accessor.h>
#include <kbl/core.h>

#pragma GCC visibility push(hidden)

namespace at {
inline namespace kbl1 {

class Tensor;
using TensorList = ArrayRef<Tensor>;

namespace impl {
inline kbl_ints ints(IntArrayRef v) { return {v.data(), v.size(), true}; }
inline int8_t dtype(std::optional<ScalarType> t) { return t ? static_cast<int8_t>(*t) : int8_t(-1); }
inline int format(std::optional<MemoryFormat> f) { return f ? static_cast<int>(*f) : -1; }
Tensor take(void* owned);
}  // namespace impl

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& o) : impl_(o.impl_) {
    if (impl_) kbl_retain(impl_);
  }
  Tensor(Tensor&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& o) & {
    Tensor copy(o);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  Tensor& operator=(Tensor&& o) & noexcept {
    Tensor moved(std::move(o));
    std::swap(impl_, moved.impl_);
    return *this;
  }
  ~Tensor() {
    if (impl_) kbl_release(impl_);
  }
  void* kbl_handle() const { return impl_; }

  bool defined() const { return impl_ != nullptr; }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }
  size_t use_count() const { return static_cast<size_t>(kbl_use_count(impl_)); }
  int64_t dim() const { return kbl_dim(impl_); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return kbl_numel(impl_); }
  int64_t size(int64_t d) const { return kbl_size(impl_, d); }
  int64_t stride(int64_t d) const { return kbl_stride(impl_, d); }
  IntArrayRef sizes() const { return {kbl_sizes(impl_), static_cast<size_t>(dim())}; }
  IntArrayRef strides() const { return {kbl_strides(impl_), static_cast<size_t>(dim())}; }
  int64_t storage_offset() const { return kbl_storage_offset(impl_); }
  int64_t element_size() const { return kbl_element_size(impl_); }
  size_t itemsize() const { return static_cast<size_t>(element_size()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  ScalarType scalar_type() const { return static_cast<ScalarType>(kbl_dtype(impl_)); }
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(scalar_type()); }
  Device device() const {
    return Device(static_cast<DeviceType>(kbl_device_type(impl_)), static_cast<DeviceIndex>(kbl_device_index(impl_)));
  }
  int64_t get_device() const { return kbl_device_index(impl_); }
  bool is_cuda() const { return kbl_is_cuda(impl_); }
  bool is_cpu() const { return kbl_is_cpu(impl_); }
  bool is_sparse() const { return kbl_layout(impl_) == static_cast<int>(Layout::Sparse); }
  Layout layout() const { return static_cast<Layout>(kbl_layout(impl_)); }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool requires_grad() const { return kbl_requires_grad(impl_); }
  const Tensor& requires_grad_(bool value = true) const {
    kbl_set_requires_grad(impl_, value);
    return *this;
  }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const {
    return kbl_is_contiguous(impl_, static_cast<int>(f));
  }
  bool is_non_overlapping_and_dense() const { return kbl_is_non_overlapping_and_dense(impl_); }
  MemoryFormat suggest_memory_format() const { return static_cast<MemoryFormat>(kbl_suggest_memory_format(impl_)); }
  TensorOptions options() const { return TensorOptions().dtype(scalar_type()).device(device()).layout(layout()); }

  void* data_ptr() const { return kbl_raw_data(impl_); }
  const void* const_data_ptr() const { return kbl_raw_data(impl_); }
  void* mutable_data_ptr() const { return kbl_raw_data(impl_); }
  template <class T>
  T* data_ptr() const { return static_cast<T*>(kbl_data(impl_, type_of<T>())); }
  template <class T>
  T* mutable_data_ptr() const { return data_ptr<T>(); }
  template <class T>
  const std::remove_const_t<T>* const_data_ptr() const {
    return static_cast<const std::remove_const_t<T>*>(kbl_const_data(impl_, type_of<T>()));
  }
  template <class T>
  [[deprecated("use data_ptr")]] T* data() const { return data_ptr<T>(); }
  Scalar item() const { return Scalar(kbl_item(impl_)); }
  template <class T>
  T item() const { return item().to<T>(); }

  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ", dim());
    return TensorAccessor<T, N>(kbl_typed<T>(), kbl_sizes(impl_), kbl_strides(impl_));
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits, class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, P, index_t> generic_packed_accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ", dim());
    return GenericPackedTensorAccessor<T, N, P, index_t>(kbl_typed<T>(), kbl_sizes(impl_), kbl_strides(impl_));
  }
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits, class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, P, index_t> generic_packed_accessor() && = delete;
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits, class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, P, index_t> packed_accessor() && = delete;
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, P> packed_accessor32() && = delete;
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, P> packed_accessor64() && = delete;
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits, class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, P, index_t> packed_accessor() const& {
    return generic_packed_accessor<T, N, P, index_t>();
  }
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, P> packed_accessor32() const& {
    TORCH_CHECK(numel() <= static_cast<int64_t>(std::numeric_limits<int32_t>::max()),
                "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
    return generic_packed_accessor<T, N, P, int32_t>();
  }
  template <class T, size_t N, template <class U> class P = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, P> packed_accessor64() const& {
    return generic_packed_accessor<T, N, P, int64_t>();
  }

  Tensor to(TensorOptions o = {}, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> f = std::nullopt) const {
    return own(kbl_to(impl_, o.raw(f), non_blocking, copy));
  }
  Tensor to(Device d, ScalarType t, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> f = std::nullopt) const {
    return to(TensorOptions(t).device(d), non_blocking, copy, f);
  }
  Tensor to(ScalarType t, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> f = std::nullopt) const {
    return to(TensorOptions(t), non_blocking, copy, f);
  }
  Tensor to(const Tensor& o, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> f = std::nullopt) const {
    return to(o.options(), non_blocking, copy, f);
  }
  Tensor toType(ScalarType t) const { return to(t); }
  Tensor cpu() const { return to(TensorOptions(kCPU)); }
  Tensor cuda() const { return to(TensorOptions(kCUDA)); }
  Tensor contiguous(MemoryFormat f = MemoryFormat::Contiguous) const {
    return own(kbl_contiguous(impl_, static_cast<int>(f)));
  }
  Tensor clone(std::optional<MemoryFormat> f = std::nullopt) const { return own(kbl_clone(impl_, impl::format(f))); }
  Tensor view(IntArrayRef size) const { return own(kbl_view(impl_, impl::ints(size))); }
  Tensor view(ScalarType t) const { return own(kbl_view_dtype(impl_, static_cast<int>(t))); }
  Tensor reshape(IntArrayRef size) const { return own(kbl_reshape(impl_, impl::ints(size))); }
  Tensor expand(IntArrayRef size, bool implicit = false) const {
    return own(kbl_expand(impl_, impl::ints(size), implicit));
  }
  Tensor permute(IntArrayRef dims) const { return own(kbl_permute(impl_, impl::ints(dims))); }
  Tensor repeat(IntArrayRef repeats) const { return own(kbl_repeat(impl_, impl::ints(repeats))); }
  Tensor flip(IntArrayRef dims) const { return own(kbl_flip(impl_, impl::ints(dims))); }
  Tensor transpose(int64_t d0, int64_t d1) const { return own(kbl_transpose(impl_, d0, d1)); }
  Tensor flatten(int64_t start = 0, int64_t end = -1) const { return own(kbl_flatten(impl_, start, end)); }
  Tensor squeeze() const { return own(kbl_squeeze(impl_)); }
  Tensor squeeze(int64_t d) const { return own(kbl_squeeze_dim(impl_, d)); }
  Tensor unsqueeze(int64_t d) const { return own(kbl_unsqueeze(impl_, d)); }
  Tensor narrow(int64_t d, int64_t start, int64_t length) const { return own(kbl_narrow(impl_, d, start, length)); }
  Tensor select(int64_t d, int64_t index) const { return own(kbl_select(impl_, d, index)); }
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor slice(int64_t d = 0, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
               int64_t step = 1) const {
    return own(kbl_slice(impl_, d, start.has_value(), start.value_or(0), end.has_value(), end.value_or(0), step));
  }
  Tensor as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset = std::nullopt) const {
    return own(kbl_as_strided(impl_, impl::ints(size), impl::ints(stride), offset.has_value(), offset.value_or(0)));
  }
  Tensor index_select(int64_t d, const Tensor& index) const { return own(kbl_index_select(impl_, d, index.impl_)); }
  Tensor gather(int64_t d, const Tensor& index, bool sparse = false) const {
    return own(kbl_gather(impl_, d, index.impl_, sparse));
  }
  Tensor scatter_add(int64_t d, const Tensor& index, const Tensor& source) const {
    return own(kbl_scatter_add(impl_, d, index.impl_, source.impl_));
  }
  std::vector<Tensor> split(int64_t size, int64_t d = 0) const {
    std::vector<Tensor> parts;
    kbl_split(impl_, size, d, &add_part, &parts);
    return parts;
  }
  std::vector<Tensor> chunk(int64_t chunks, int64_t d = 0) const {
    std::vector<Tensor> parts;
    kbl_chunk(impl_, chunks, d, &add_part, &parts);
    return parts;
  }
  std::vector<Tensor> unbind(int64_t d = 0) const {
    std::vector<Tensor> parts;
    kbl_unbind(impl_, d, &add_part, &parts);
    return parts;
  }

  Tensor add(const Tensor& o, const Scalar& alpha = 1) const { return own(kbl_add(impl_, o.impl_, alpha)); }
  Tensor add(const Scalar& o, const Scalar& alpha = 1) const { return own(kbl_add_scalar(impl_, o, alpha)); }
  Tensor sub(const Tensor& o, const Scalar& alpha = 1) const { return own(kbl_sub(impl_, o.impl_, alpha)); }
  Tensor sub(const Scalar& o, const Scalar& alpha = 1) const { return own(kbl_sub_scalar(impl_, o, alpha)); }
  Tensor mul(const Tensor& o) const { return own(kbl_mul(impl_, o.impl_)); }
  Tensor mul(const Scalar& o) const { return own(kbl_mul_scalar(impl_, o)); }
  Tensor div(const Tensor& o) const { return own(kbl_div(impl_, o.impl_)); }
  Tensor div(const Scalar& o) const { return own(kbl_div_scalar(impl_, o)); }
  Tensor& add_(const Tensor& o, const Scalar& alpha = 1) const { return kbl_add_(impl_, o.impl_, alpha), self(); }
  Tensor& add_(const Scalar& o, const Scalar& alpha = 1) const { return kbl_add_scalar_(impl_, o, alpha), self(); }
  Tensor& sub_(const Tensor& o, const Scalar& alpha = 1) const { return kbl_sub_(impl_, o.impl_, alpha), self(); }
  Tensor& sub_(const Scalar& o, const Scalar& alpha = 1) const { return kbl_sub_scalar_(impl_, o, alpha), self(); }
  Tensor& mul_(const Tensor& o) const { return kbl_mul_(impl_, o.impl_), self(); }
  Tensor& mul_(const Scalar& o) const { return kbl_mul_scalar_(impl_, o), self(); }
  Tensor& div_(const Tensor& o) const { return kbl_div_(impl_, o.impl_), self(); }
  Tensor& div_(const Scalar& o) const { return kbl_div_scalar_(impl_, o), self(); }
  Tensor& copy_(const Tensor& o, bool non_blocking = false) const {
    return kbl_copy_(impl_, o.impl_, non_blocking), self();
  }
  Tensor& fill_(const Scalar& value) const { return kbl_fill_(impl_, value), self(); }
  Tensor& fill_(const Tensor& value) const { return kbl_fill_tensor_(impl_, value.impl_), self(); }
  const Tensor& resize_(IntArrayRef size) const { return kbl_resize_(impl_, impl::ints(size)), *this; }
  Tensor pow(const Scalar& exponent) const { return own(kbl_pow(impl_, exponent)); }
  Tensor pow(const Tensor& exponent) const { return own(kbl_pow_tensor(impl_, exponent.impl_)); }
  Tensor clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high = std::nullopt) const {
    return own(kbl_clamp(impl_, low.has_value(), low.value_or(0), high.has_value(), high.value_or(0)));
  }
  Tensor clamp_min(const Scalar& low) const { return own(kbl_clamp_min(impl_, low)); }
  Tensor clamp_max(const Scalar& high) const { return own(kbl_clamp_max(impl_, high)); }
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const {
    return own(kbl_masked_fill(impl_, mask.impl_, value));
  }
  Tensor argmax(std::optional<int64_t> d = std::nullopt, bool keep = false) const {
    return own(kbl_argmax(impl_, d.has_value(), d.value_or(0), keep));
  }
  Tensor argmin(std::optional<int64_t> d = std::nullopt, bool keep = false) const {
    return own(kbl_argmin(impl_, d.has_value(), d.value_or(0), keep));
  }
  Tensor sum(std::optional<ScalarType> t = std::nullopt) const { return own(kbl_all_sum(impl_, impl::dtype(t))); }
  Tensor mean(std::optional<ScalarType> t = std::nullopt) const { return own(kbl_all_mean(impl_, impl::dtype(t))); }
  Tensor norm(const Scalar& p = 2) const { return own(kbl_norm(impl_, p)); }
  std::tuple<Tensor, Tensor> topk(int64_t k, int64_t d = -1, bool largest = true, bool sorted = true) const {
    return pair([&](void** out) { kbl_topk(impl_, k, d, largest, sorted, out); });
  }
  std::tuple<Tensor, Tensor> sort(int64_t d = -1, bool descending = false) const {
    return pair([&](void** out) { kbl_sort(impl_, d, descending, out); });
  }
  Tensor triu(int64_t diagonal = 0) const { return own(kbl_triu(impl_, diagonal)); }
  Tensor tril(int64_t diagonal = 0) const { return own(kbl_tril(impl_, diagonal)); }
  Tensor addmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const {
    return own(kbl_addmm(impl_, a.impl_, b.impl_, beta, alpha));
  }
  Tensor& addmm_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const {
    return kbl_addmm_(impl_, a.impl_, b.impl_, beta, alpha), self();
  }

#define KBL_UNARY(name) \
  Tensor name() const { return own(kbl_##name(impl_)); }
#define KBL_UNARY_IN_PLACE(name) \
  Tensor& name() const { return kbl_##name(impl_), self(); }
#define KBL_BINARY(name) \
  Tensor name(const Tensor& o) const { return own(kbl_##name(impl_, o.impl_)); }
#define KBL_COMPARE(name)                                                      \
  Tensor name(const Tensor& o) const { return own(kbl_##name(impl_, o.impl_)); } \
  Tensor name(const Scalar& o) const { return own(kbl_##name##_scalar(impl_, o)); }
#define KBL_REDUCE(name)                                                                                       \
  Tensor name(OptionalIntArrayRef dims, bool keep = false, std::optional<ScalarType> t = std::nullopt) const { \
    return own(kbl_##name(impl_, dims.ints(), keep, impl::dtype(t)));                                          \
  }
#define KBL_EXTREME(name)                                                              \
  Tensor name() const { return own(kbl_##name(impl_)); }                               \
  std::tuple<Tensor, Tensor> name(int64_t d, bool keep = false) const {                \
    return pair([&](void** out) { kbl_##name##_dim(impl_, d, keep, out); });           \
  }
#define KBL_ALONG(name)                                                             \
  Tensor name(int64_t d, std::optional<ScalarType> t = std::nullopt) const {        \
    return own(kbl_##name(impl_, d, impl::dtype(t)));                               \
  }
#define KBL_FACTORY(name)
#define KBL_LIKE(name)
#define KBL_CONV(name)
#define KBL_CONV_TRANSPOSE(name)
#include <kbl/list.h>

  Tensor operator-() const { return neg(); }
  Tensor& operator+=(const Tensor& o) { return add_(o); }
  Tensor& operator+=(const Scalar& o) { return add_(o); }
  Tensor& operator-=(const Tensor& o) { return sub_(o); }
  Tensor& operator-=(const Scalar& o) { return sub_(o); }
  Tensor& operator*=(const Tensor& o) { return mul_(o); }
  Tensor& operator*=(const Scalar& o) { return mul_(o); }
  Tensor& operator/=(const Tensor& o) { return div_(o); }
  Tensor& operator/=(const Scalar& o) { return div_(o); }

 private:
  friend Tensor impl::take(void*);
  template <class T>
  static int type_of() { return static_cast<int>(CppTypeToScalarType<std::remove_const_t<T>>::value); }
  template <class T>
  T* kbl_typed() const {
    return static_cast<T*>(std::is_const_v<T> ? kbl_const_data(impl_, type_of<T>()) : kbl_data(impl_, type_of<T>()));
  }
  static Tensor own(void* owned) {
    Tensor t;
    t.impl_ = owned;
    return t;
  }
  Tensor& self() const { return const_cast<Tensor&>(*this); }
  template <class F>
  static std::tuple<Tensor, Tensor> pair(F fill) {
    void* out[2] = {};
    fill(out);
    return {own(out[0]), own(out[1])};
  }
  static void add_part(void* parts, void* owned) { static_cast<std::vector<Tensor>*>(parts)->push_back(own(owned)); }
  void* impl_ = nullptr;
};

static_assert(sizeof(Tensor) == sizeof(void*), "a list of tensors is handed over as a list of handles");

namespace impl {
inline Tensor take(void* owned) { return Tensor::own(owned); }
inline kbl_tensors list(TensorList v) { return {reinterpret_cast<void* const*>(v.data()), v.size()}; }
inline void* handle(const Tensor& t) { return t.kbl_handle(); }
inline void* handle(const std::optional<Tensor>& t) { return t ? t->kbl_handle() : nullptr; }
}  // namespace impl

inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::make_optional(t.device()) : std::nullopt;
}

}  // namespace kbl1
}  // namespace at

#pragma GCC visibility pop
