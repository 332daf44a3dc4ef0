// The C symbols between light objects and the glue. Nothing else crosses: no class, no template, no layout of torch's.
//
// A tensor is an owned `void*` (an intrusive pointer that only the glue looks into); functions that return one give a
// reference away. Exceptions do cross: both sides share one C++ runtime, and the glue throws torch's own types.
#pragma once
#include <cstddef>
#include <cstdint>

struct kbl_options {
  int8_t dtype = -1;  // -1: not said
  int8_t device_type = -1;
  int8_t device_index = -1;
  int8_t layout = -1;
  int8_t pinned = -1;
  int8_t requires_grad = -1;
  int8_t memory_format = -1;
};

struct kbl_scalar {
  enum kind_t : int8_t { boolean, integer, floating } kind;
  int64_t i;
  double d;
};

struct kbl_ints {
  const int64_t* data;
  size_t size;
  bool given = true;
};

struct kbl_tensors {
  void* const* data;
  size_t size;
};

struct kbl_stream {
  void* raw;
  int64_t id;
  int8_t device;
};

typedef void* kbl_py;  // a PyObject*

// One Python-callable function: `call` converts the arguments, runs it, and returns a new reference, null where a
// Python error is set, or `kbl_mismatch` where an argument has the wrong type.
struct kbl_function {
  kbl_py (*call)(const kbl_function* self, const kbl_py* arguments, bool convert);
  const char* name;
  const char* doc;
  const char* signature;
  int count;
  const char* const* names;  // null where the arguments have none
  kbl_py* defaults;          // null entries where there is none
  bool torch_errors;         // exceptions become what torch's own wrapper makes of them, else what pybind11 makes
  bool constructs;           // `call` returns the address of a new object
};
#define kbl_mismatch (reinterpret_cast<kbl_py>(1))

#pragma GCC visibility push(default)
extern "C" {
void kbl_retain(void* t);
void kbl_release(void* t) noexcept;
int64_t kbl_use_count(void* t);
int64_t kbl_dim(void* t);
int64_t kbl_numel(void* t);
int64_t kbl_size(void* t, int64_t d);
int64_t kbl_stride(void* t, int64_t d);
const int64_t* kbl_sizes(void* t);
const int64_t* kbl_strides(void* t);
int64_t kbl_element_size(void* t);
int64_t kbl_storage_offset(void* t);
int kbl_dtype(void* t);
bool kbl_is_cuda(void* t);
bool kbl_is_cpu(void* t);
int kbl_device_type(void* t);
int kbl_device_index(void* t);
int kbl_layout(void* t);
bool kbl_requires_grad(void* t);
void kbl_set_requires_grad(void* t, bool value);
bool kbl_is_contiguous(void* t, int memory_format);
bool kbl_is_non_overlapping_and_dense(void* t);
int kbl_suggest_memory_format(void* t);
void* kbl_data(void* t, int dtype);  // throws where the tensor holds another type
void* kbl_const_data(void* t, int dtype);
void* kbl_raw_data(void* t);
kbl_scalar kbl_item(void* t);
int kbl_default_dtype();
size_t kbl_dtype_size(int dtype);
bool kbl_dtype_is_floating(int dtype);
const char* kbl_dtype_text(int dtype);  // Float
const char* kbl_dtype_name(int dtype);  // float
const char* kbl_device_text(int type);
void kbl_device_parse(const char* text, int* type, int* index);
bool kbl_set_grad_mode(bool enabled);  // what it was

[[noreturn]] void kbl_fail(int kind, const char* function, const char* file, uint32_t line, const char* message);
void kbl_warn(const char* function, const char* file, uint32_t line, const char* message);

int kbl_num_threads();
int kbl_thread_num();
void kbl_set_thread_num(int number);
bool kbl_in_parallel_region();
bool kbl_parallel_guard(bool enabled);  // what it was
void kbl_set_num_threads(int count);

kbl_py kbl_py_module(const char* name);
kbl_py kbl_py_failed_import(kbl_py module, const char* why);
void kbl_py_doc(kbl_py module, const char* doc);
void kbl_py_define(kbl_py owner, const kbl_function* function);
kbl_py kbl_py_class(kbl_py module, const char* name, const char* doc, void (*destroy)(void*));
void kbl_py_property(kbl_py type, const char* name, const kbl_function* getter);
void* kbl_py_pointer(kbl_py type, kbl_py object);
kbl_py kbl_py_none();
void kbl_py_release(kbl_py object);
bool kbl_py_is_none(kbl_py object);
bool kbl_py_tensor(kbl_py object, void** out);
bool kbl_py_bool(kbl_py object, bool convert, bool* out);
bool kbl_py_int(kbl_py object, bool convert, int64_t* out);
bool kbl_py_size(kbl_py object, int64_t* out);  // an element of an IntArrayRef
bool kbl_py_uint(kbl_py object, bool convert, uint64_t* out);
bool kbl_py_float(kbl_py object, bool convert, double* out);
bool kbl_py_string(kbl_py object, const char** out, size_t* size);
bool kbl_py_dtype(kbl_py object, int* out);
bool kbl_py_device(kbl_py object, int* type, int* index);
bool kbl_py_memory_format(kbl_py object, int* out);
// The items of a list or tuple (`exact`), or of all that pybind11 takes for a vector: borrowed from `*holder`, which the
// caller releases. Null where it is none of these.
kbl_py* kbl_py_items(kbl_py object, bool exact, bool convert, kbl_py* holder, size_t* size);
kbl_py kbl_py_from_tensor(void* t);
kbl_py kbl_py_from_bool(bool value);
kbl_py kbl_py_from_int(int64_t value);
kbl_py kbl_py_from_uint(uint64_t value);
kbl_py kbl_py_from_float(double value);
kbl_py kbl_py_from_string(const char* text, size_t size);
kbl_py kbl_py_from_dtype(int dtype);
kbl_py kbl_py_list(size_t size);
kbl_py kbl_py_tuple(size_t size);
void kbl_py_put(kbl_py sequence, size_t index, kbl_py item);  // takes the reference
void* kbl_py_allow_threads();
void kbl_py_end_allow_threads(void* state);
void* kbl_py_gil();
void kbl_py_end_gil(void* state);

kbl_stream kbl_cuda_current_stream(int device);
kbl_stream kbl_cuda_default_stream(int device);
kbl_stream kbl_cuda_pool_stream(int priority, int device);
kbl_stream kbl_cuda_external_stream(void* raw, int device);
void kbl_cuda_set_stream(kbl_stream stream);
int kbl_cuda_device();
int kbl_cuda_device_count();
void kbl_cuda_set_device(int device);
int kbl_cuda_exchange_device(int device);
void kbl_cuda_check(int error, const char* file, const char* function, uint32_t line);
const void* kbl_cuda_properties(int device);
void* kbl_cuda_blas_handle();
void* kbl_cuda_blaslt_handle();
void kbl_cuda_blas_check(int status, const char* call, const char* function, const char* file, uint32_t line);
void kbl_cuda_stream_synchronize(kbl_stream stream);

#define KBL_UNARY(name) void* kbl_##name(void* a);
#define KBL_UNARY_IN_PLACE(name) void kbl_##name(void* a);
#define KBL_BINARY(name) void* kbl_##name(void* a, void* b);
#define KBL_COMPARE(name)                  \
  void* kbl_##name(void* a, void* b);      \
  void* kbl_##name##_scalar(void* a, kbl_scalar b);
#define KBL_REDUCE(name) \
  void* kbl_##name(void* a, kbl_ints dims, bool keep, int dtype);
#define KBL_EXTREME(name)                 \
  void* kbl_##name(void* a);              \
  void kbl_##name##_dim(void* a, int64_t dim, bool keep, void** out);
#define KBL_ALONG(name) void* kbl_##name(void* a, int64_t dim, int dtype);
#define KBL_FACTORY(name) void* kbl_##name(kbl_ints size, kbl_options o);
#define KBL_LIKE(name) void* kbl_##name(void* a, kbl_options o);
#define KBL_CONV(name)                                                                                       \
  void* kbl_##name(void* x, void* w, void* b, kbl_ints stride, kbl_ints padding, kbl_ints dilation,           \
                   int64_t groups);
#define KBL_CONV_TRANSPOSE(name)                                                                             \
  void* kbl_##name(void* x, void* w, void* b, kbl_ints stride, kbl_ints padding, kbl_ints output_padding,     \
                   int64_t groups, kbl_ints dilation);
#include <kbl/list.h>

void* kbl_empty(kbl_ints size, kbl_options o);
void* kbl_full(kbl_ints size, kbl_scalar value, kbl_options o);
void* kbl_full_like(void* a, kbl_scalar value, kbl_options o);
void* kbl_empty_strided(kbl_ints size, kbl_ints stride, kbl_options o);
void* kbl_arange(kbl_scalar start, kbl_scalar end, kbl_scalar step, kbl_options o);
void* kbl_from_blob(void* data, kbl_ints size, kbl_ints stride, kbl_options o);
void* kbl_to(void* a, kbl_options o, bool non_blocking, bool copy);
void* kbl_contiguous(void* a, int memory_format);
void* kbl_clone(void* a, int memory_format);
void* kbl_view(void* a, kbl_ints size);
void* kbl_view_dtype(void* a, int dtype);
void* kbl_reshape(void* a, kbl_ints size);
void* kbl_expand(void* a, kbl_ints size, bool implicit);
void* kbl_permute(void* a, kbl_ints dims);
void* kbl_repeat(void* a, kbl_ints repeats);
void* kbl_flip(void* a, kbl_ints dims);
void* kbl_transpose(void* a, int64_t d0, int64_t d1);
void* kbl_flatten(void* a, int64_t start, int64_t end);
void* kbl_squeeze(void* a);
void* kbl_squeeze_dim(void* a, int64_t dim);
void* kbl_unsqueeze(void* a, int64_t dim);
void* kbl_narrow(void* a, int64_t dim, int64_t start, int64_t length);
void* kbl_select(void* a, int64_t dim, int64_t index);
void* kbl_slice(void* a, int64_t dim, bool has_start, int64_t start, bool has_end, int64_t end, int64_t step);
void* kbl_as_strided(void* a, kbl_ints size, kbl_ints stride, bool has_offset, int64_t offset);
void* kbl_index_select(void* a, int64_t dim, void* index);
void* kbl_gather(void* a, int64_t dim, void* index, bool sparse);
void* kbl_scatter_add(void* a, int64_t dim, void* index, void* source);
void* kbl_cat(kbl_tensors list, int64_t dim);
void* kbl_stack(kbl_tensors list, int64_t dim);
// Each part is given to `add` with its reference.
void kbl_split(void* a, int64_t size, int64_t dim, void (*add)(void*, void*), void* parts);
void kbl_chunk(void* a, int64_t chunks, int64_t dim, void (*add)(void*, void*), void* parts);
void kbl_unbind(void* a, int64_t dim, void (*add)(void*, void*), void* parts);
void* kbl_add(void* a, void* b, kbl_scalar alpha);
void* kbl_sub(void* a, void* b, kbl_scalar alpha);
void* kbl_add_scalar(void* a, kbl_scalar b, kbl_scalar alpha);
void* kbl_sub_scalar(void* a, kbl_scalar b, kbl_scalar alpha);
void* kbl_rsub_scalar(void* a, kbl_scalar b);
void* kbl_mul(void* a, void* b);
void* kbl_mul_scalar(void* a, kbl_scalar b);
void* kbl_div(void* a, void* b);
void* kbl_div_scalar(void* a, kbl_scalar b);
void* kbl_scalar_div(kbl_scalar a, void* b);
void kbl_add_(void* a, void* b, kbl_scalar alpha);
void kbl_sub_(void* a, void* b, kbl_scalar alpha);
void kbl_add_scalar_(void* a, kbl_scalar b, kbl_scalar alpha);
void kbl_sub_scalar_(void* a, kbl_scalar b, kbl_scalar alpha);
void kbl_mul_(void* a, void* b);
void kbl_mul_scalar_(void* a, kbl_scalar b);
void kbl_div_(void* a, void* b);
void kbl_div_scalar_(void* a, kbl_scalar b);
void kbl_copy_(void* a, void* b, bool non_blocking);
void kbl_fill_(void* a, kbl_scalar value);
void kbl_fill_tensor_(void* a, void* value);
void kbl_resize_(void* a, kbl_ints size);
void* kbl_pow(void* a, kbl_scalar exponent);
void* kbl_pow_tensor(void* a, void* exponent);
void* kbl_clamp(void* a, bool has_min, kbl_scalar min, bool has_max, kbl_scalar max);
void* kbl_clamp_min(void* a, kbl_scalar min);
void* kbl_clamp_max(void* a, kbl_scalar max);
void* kbl_leaky_relu(void* a, kbl_scalar slope);
void* kbl_gelu(void* a, const char* approximate, size_t size);
void* kbl_masked_fill(void* a, void* mask, kbl_scalar value);
void* kbl_where(void* condition, void* a, void* b);
void* kbl_argmax(void* a, bool has_dim, int64_t dim, bool keep);
void* kbl_argmin(void* a, bool has_dim, int64_t dim, bool keep);
void* kbl_all_sum(void* a, int dtype);
void* kbl_all_mean(void* a, int dtype);
void kbl_var_mean(void* a, kbl_ints dims, bool unbiased, bool keep, void** out);
void* kbl_norm(void* a, kbl_scalar p);
void kbl_topk(void* a, int64_t k, int64_t dim, bool largest, bool sorted, void** out);
void kbl_sort(void* a, int64_t dim, bool descending, void** out);
void* kbl_linear(void* x, void* w, void* b);
void* kbl_addmm(void* c, void* a, void* b, kbl_scalar beta, kbl_scalar alpha);
void kbl_addmm_(void* c, void* a, void* b, kbl_scalar beta, kbl_scalar alpha);
void* kbl_baddbmm(void* c, void* a, void* b, kbl_scalar beta, kbl_scalar alpha);
void kbl_matmul_out(void* out, void* a, void* b, int which);
void* kbl_layer_norm(void* x, kbl_ints shape, void* w, void* b, double eps);
void* kbl_group_norm(void* x, int64_t groups, void* w, void* b, double eps);
void* kbl_triu(void* a, int64_t diagonal);
void* kbl_tril(void* a, int64_t diagonal);
void* kbl_embedding(void* weight, void* indices);
void* kbl_one_hot(void* a, int64_t classes);
void* kbl_pad(void* a, kbl_ints pad, kbl_scalar value);
}
#pragma GCC visibility pop
