// The plain types of c10: scalar types, devices, array references, options, and checks that throw torch's own errors.
#pragma once
// With Python's headers come the C++ overloads of C's functions, so that `abs` of a double is one.
#include <math.h>
#include <stdlib.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Written for each build: standard headers that its sources name, and what of ours is worth parsing for them.
#include <kbl_wants.h>

#include <c10/macros/Macros.h>
#ifdef KBL_WANTS_HALF
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#else
namespace c10 {
struct Half;
struct BFloat16;
}  // namespace c10
#endif
#include <kbl/abi.h>

#pragma GCC visibility push(hidden)

namespace c10 {
inline namespace kbl1 {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using string_view = std::string_view;
using DeviceIndex = int8_t;

enum class ScalarType : int8_t {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool,
  QInt8, QUInt8, QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16,
  Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64,
  Undefined = 127,
};

// Types that a solution's pointers may have. Others have no entry: they do not compile here.
#define KBL_TYPES(_)                                                                                        \
  _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int, Int) _(int64_t, Long) _(c10::Half, Half)        \
  _(float, Float) _(double, Double) _(bool, Bool) _(c10::BFloat16, BFloat16) _(uint16_t, UInt16)            \
  _(uint32_t, UInt32) _(uint64_t, UInt64)

template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType N>
struct ScalarTypeToCPPType;
template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;
}  // namespace impl
#define KBL_TYPE(cpp, name)                                                                   \
  template <>                                                                                       \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::name> {};        \
  template <>                                                                                       \
  struct impl::ScalarTypeToCPPType<ScalarType::name> {                                              \
    using type = cpp;                                                                               \
  };                                                                                                \
  constexpr ScalarType k##name = ScalarType::name;
KBL_TYPES(KBL_TYPE)
#undef KBL_TYPE

inline const char* toString(ScalarType t) { return kbl_dtype_text(static_cast<int>(t)); }
inline std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << toString(t); }
inline bool isFloatingType(ScalarType t) { return kbl_dtype_is_floating(static_cast<int>(t)); }
inline bool isIntegralType(ScalarType t, bool with_bool) {
  return t == kByte || t == kChar || t == kShort || t == kInt || t == kLong || t == kUInt16 || t == kUInt32 ||
         t == kUInt64 || (with_bool && t == kBool);
}
inline size_t elementSize(ScalarType t) { return kbl_dtype_size(static_cast<int>(t)); }

enum class Layout : int8_t { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }
inline std::ostream& operator<<(std::ostream& out, MemoryFormat f) {
  static const char* const names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << names[static_cast<int>(f)];
}

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kMeta = DeviceType::Meta;
inline std::ostream& operator<<(std::ostream& out, DeviceType t) { return out << kbl_device_text(static_cast<int>(t)); }

struct Device {
  using Type = DeviceType;
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text) : Device(parsed(text)) {}
  Device(const char* text) : Device(std::string(text)) {}
  DeviceType type() const noexcept { return type_; }
  DeviceIndex index() const noexcept { return index_; }
  bool has_index() const noexcept { return index_ != -1; }
  bool is_cuda() const noexcept { return type_ == kCUDA; }
  bool is_cpu() const noexcept { return type_ == kCPU; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool operator==(const Device& o) const noexcept { return type_ == o.type_ && index_ == o.index_; }
  bool operator!=(const Device& o) const noexcept { return !(*this == o); }
  std::string str() const {
    std::string name = kbl_device_text(static_cast<int>(type_));
    return has_index() ? name + ":" + std::to_string(index_) : name;
  }

 private:
  static Device parsed(const std::string& text) {
    int type = 0, index = 0;
    kbl_device_parse(text.c_str(), &type, &index);
    return Device(static_cast<DeviceType>(type), static_cast<DeviceIndex>(index));
  }
  DeviceType type_;
  DeviceIndex index_;
};
inline std::ostream& operator<<(std::ostream& out, const Device& d) { return out << d.str(); }

namespace checks {
// An output stream to a string. <sstream> would do, at a fifth of a second per file that nvcc reads.
struct Text : std::streambuf {
  std::string text;
  std::streamsize xsputn(const char* s, std::streamsize n) override {
    text.append(s, static_cast<size_t>(n));
    return n;
  }
  int_type overflow(int_type c) override {
    text.push_back(static_cast<char>(c));
    return c;
  }
};
template <class... A>
std::string str(const A&... parts) {
  if constexpr (sizeof...(A) == 1 && (std::is_convertible_v<const A&, std::string> && ...)) {
    return std::string(parts...);
  } else {
    Text buffer;
    std::ostream out(&buffer);
    (void)(out << ... << parts);
    return std::move(buffer.text);
  }
}
enum Kind { error, index_error, value_error, type_error, not_implemented };
// The text of a check without one of its own is torch's.
inline std::string message(const char* fallback) { return fallback; }
template <class... A>
std::string message(const char*, const A&... parts) { return checks::str(parts...); }
[[noreturn]] inline void fail(Kind kind, const char* function, const char* file, uint32_t line, const std::string& m) {
  kbl_fail(kind, function, file, line, m.c_str());
}
}  // namespace checks
template <class... A>
std::string str(const A&... parts) { return checks::str(parts...); }

#define KBL_CHECK(kind, condition, ...)                                                                             \
  if (C10_UNLIKELY(!(condition))) {                                                                                 \
    ::c10::checks::fail(::c10::checks::kind, __func__, __FILE__, static_cast<uint32_t>(__LINE__),                   \
                        ::c10::checks::message("Expected " #condition                                              \
                                               " to be true, but got false.  (Could this error message be improved?" \
                                               "  If so, please report an enhancement request to PyTorch.)",        \
                                               ##__VA_ARGS__));                                                     \
  }
#define TORCH_CHECK(condition, ...) KBL_CHECK(error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) KBL_CHECK(index_error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) KBL_CHECK(value_error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) KBL_CHECK(type_error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) KBL_CHECK(not_implemented, condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...)                                                                    \
  if (C10_UNLIKELY(!(condition))) {                                                                              \
    ::c10::checks::fail(::c10::checks::error, __func__, __FILE__, static_cast<uint32_t>(__LINE__),               \
                        #condition " INTERNAL ASSERT FAILED at " C10_STRINGIZE(__FILE__) ":" C10_STRINGIZE(      \
                            __LINE__) ", please report a bug to PyTorch. " +                                     \
                            ::c10::str(__VA_ARGS__));                                                            \
  }
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_INTERNAL_ASSERT(condition, ##__VA_ARGS__)
#define AT_ERROR(...) TORCH_CHECK(false, ##__VA_ARGS__)
#define TORCH_WARN(...)                                                                      \
  ::kbl_warn(__func__, __FILE__, static_cast<uint32_t>(__LINE__), ::c10::str(__VA_ARGS__).c_str())
#define TORCH_WARN_ONCE(...)                                 \
  do {                                                       \
    static const bool warned = (TORCH_WARN(__VA_ARGS__), true); \
    (void)warned;                                            \
  } while (false)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)

template <class T>
class ArrayRef {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;
  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& v) : data_(v.data()), size_(v.size()) {
    static_assert(!std::is_same_v<T, bool>, "an ArrayRef<bool> has no storage in a vector<bool>");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& v) : data_(v.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&v)[N]) : data_(v), size_(N) {}
  constexpr ArrayRef(const std::initializer_list<T>& v) : data_(v.begin()), size_(v.size()) {}
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  const T& front() const {
    TORCH_CHECK(!empty(), "ArrayRef: attempted to access front() of empty list");
    return data_[0];
  }
  const T& back() const {
    TORCH_CHECK(!empty(), "ArrayRef: attempted to access back() of empty list");
    return data_[size_ - 1];
  }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    TORCH_CHECK(i < size_, "ArrayRef: invalid index Index = ", i, "; Length = ", size_);
    return data_[i];
  }
  ArrayRef slice(size_t n, size_t m) const {
    TORCH_CHECK(n + m <= size_, "ArrayRef: invalid slice, N = ", n, "; M = ", m, "; size = ", size_);
    return ArrayRef(data_ + n, m);
  }
  ArrayRef slice(size_t n) const {
    TORCH_CHECK(n <= size_, "ArrayRef: invalid slice, N = ", n, "; size = ", size_);
    return slice(n, size_ - n);
  }
  bool equals(ArrayRef o) const { return size_ == o.size_ && std::equal(begin(), end(), o.begin()); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

 private:
  const T* data_;
  size_t size_;
};
template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) { return a.equals(b); }
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) { return !a.equals(b); }
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) { return a.equals(b); }
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) { return !a.equals(b); }
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) { return b.equals(a); }
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << ']';
}
using IntArrayRef = ArrayRef<int64_t>;

// A place for one value is needed where a single number stands for a list.
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() : given_(false), one_(0) {}
  OptionalIntArrayRef(std::nullopt_t) : OptionalIntArrayRef() {}
  OptionalIntArrayRef(IntArrayRef list) : given_(true), one_(0), list_(list) {}
  OptionalIntArrayRef(const std::vector<int64_t>& list) : OptionalIntArrayRef(IntArrayRef(list)) {}
  OptionalIntArrayRef(const std::initializer_list<int64_t>& list) : OptionalIntArrayRef(IntArrayRef(list)) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  OptionalIntArrayRef(T one) : given_(true), one_(one), single_(true) {}
  kbl_ints ints() const {
    return single_ ? kbl_ints{&one_, 1, true} : kbl_ints{list_.data(), list_.size(), given_};
  }

 private:
  bool given_;
  int64_t one_;
  bool single_ = false;
  IntArrayRef list_;
};

class Scalar {
 public:
  Scalar() : Scalar(int64_t(0)) {}
  template <class T, std::enable_if_t<std::is_same_v<T, bool>, bool> = true>
  Scalar(T v) : value_{kbl_scalar::boolean, v, 0.0} {}
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Scalar(T v) : value_{kbl_scalar::integer, static_cast<int64_t>(v), 0.0} {}
  template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  Scalar(T v) : value_{kbl_scalar::floating, 0, static_cast<double>(v)} {}
#ifdef KBL_WANTS_HALF
  Scalar(c10::Half v) : Scalar(static_cast<float>(v)) {}
  Scalar(c10::BFloat16 v) : Scalar(static_cast<float>(v)) {}
#endif
  explicit Scalar(kbl_scalar v) : value_(v) {}
  template <class T>
  T to() const {
    const bool lost = value_.kind == kbl_scalar::floating ? overflows<T>(value_.d) : overflows<T>(value_.i);
    if (lost) {
      kbl_fail(checks::error, __func__, __FILE__, __LINE__,
               checks::str("value cannot be converted to type ", name<T>(), " without overflow").c_str());
    }
    return value_.kind == kbl_scalar::floating ? static_cast<T>(value_.d) : static_cast<T>(value_.i);
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int toInt() const { return to<int>(); }
  int64_t toLong() const { return to<int64_t>(); }
  bool toBool() const { return to<bool>(); }
  bool isFloatingPoint() const { return value_.kind == kbl_scalar::floating; }
  bool isIntegral(bool with_bool) const {
    return value_.kind == kbl_scalar::integer || (with_bool && value_.kind == kbl_scalar::boolean);
  }
  bool isBoolean() const { return value_.kind == kbl_scalar::boolean; }
  operator kbl_scalar() const { return value_; }

 private:
  // c10's rules: booleans take anything, infinities go where there are some, negative numbers wrap into unsigned ones.
  template <class T, class F>
  static bool overflows(F v) {
    using limit = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool> || !limit::is_specialized) {
      return false;
    } else if constexpr (std::is_floating_point_v<F>) {
      if (limit::has_infinity && std::isinf(v)) return false;
      if (v != v) return !limit::has_quiet_NaN;
      return v < static_cast<F>(limit::lowest()) || v > static_cast<F>(limit::max());
    } else if constexpr (std::is_unsigned_v<T>) {
      return v > 0 && static_cast<uint64_t>(v) > static_cast<uint64_t>(limit::max());
    } else if constexpr (std::is_integral_v<T>) {
      return v < static_cast<F>(limit::lowest()) || v > static_cast<F>(limit::max());
    } else {
      return overflows<T>(static_cast<double>(v));
    }
  }
  template <class T>
  static const char* name() {
    if constexpr (std::is_same_v<T, int64_t>) return "int64_t";
    else if constexpr (std::is_same_v<T, int>) return "int";
    else if constexpr (std::is_same_v<T, int16_t>) return "int16_t";
    else if constexpr (std::is_same_v<T, int8_t>) return "int8_t";
    else if constexpr (std::is_same_v<T, uint8_t>) return "uint8_t";
    else if constexpr (std::is_same_v<T, uint16_t>) return "uint16_t";
    else if constexpr (std::is_same_v<T, uint32_t>) return "uint32_t";
    else if constexpr (std::is_same_v<T, uint64_t>) return "uint64_t";
    else if constexpr (std::is_same_v<T, float>) return "float";
    else if constexpr (std::is_same_v<T, double>) return "double";
    else if constexpr (std::is_same_v<T, bool>) return "bool";
    else return "at::Half";
  }
  kbl_scalar value_;
};

}  // namespace kbl1
}  // namespace c10

namespace caffe2 {
inline namespace kbl1 {
class TypeMeta {
 public:
  TypeMeta() = default;
  explicit TypeMeta(c10::ScalarType t) : type_(t) {}
  c10::ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return c10::elementSize(type_); }
  const char* name() const { return kbl_dtype_name(static_cast<int>(type_)); }
  bool operator==(TypeMeta o) const { return type_ == o.type_; }
  bool operator!=(TypeMeta o) const { return type_ != o.type_; }
  bool operator==(c10::ScalarType t) const { return type_ == t; }
  bool operator!=(c10::ScalarType t) const { return type_ != t; }
  template <class T>
  static TypeMeta Make() { return TypeMeta(c10::CppTypeToScalarType<T>::value); }
  template <class T>
  bool Match() const { return type_ == c10::CppTypeToScalarType<T>::value; }

 private:
  c10::ScalarType type_ = c10::ScalarType::Undefined;
};
#if __cplusplus < 202002L
inline bool operator==(c10::ScalarType a, TypeMeta b) { return b == a; }
inline bool operator!=(c10::ScalarType a, TypeMeta b) { return b != a; }
#endif
inline std::ostream& operator<<(std::ostream& out, TypeMeta t) { return out << t.name(); }
}  // namespace kbl1
}  // namespace caffe2

namespace c10 {
inline namespace kbl1 {

inline ScalarType typeMetaToScalarType(caffe2::TypeMeta t) { return t.toScalarType(); }

class TensorOptions {
 public:
  TensorOptions() = default;
  explicit TensorOptions(Layout layout) { raw_.layout = static_cast<int8_t>(layout); }
  explicit TensorOptions(MemoryFormat format) { raw_.memory_format = static_cast<int8_t>(format); }
  TensorOptions(ScalarType t) { raw_.dtype = static_cast<int8_t>(t); }
  TensorOptions(caffe2::TypeMeta t) : TensorOptions(t.toScalarType()) {}
  TensorOptions(Device d) { set(d); }
  TensorOptions(DeviceType t) : TensorOptions(Device(t)) {}
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> t) const {
    auto o = *this;
    o.raw_.dtype = t ? static_cast<int8_t>(*t) : int8_t(-1);
    return o;
  }
  [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta t) const { return dtype(t.toScalarType()); }
  template <class T>
  TensorOptions dtype() const { return dtype(CppTypeToScalarType<T>::value); }
  [[nodiscard]] TensorOptions device(Device d) const {
    auto o = *this;
    o.set(d);
    return o;
  }
  [[nodiscard]] TensorOptions device(std::optional<Device> d) const { return d ? device(*d) : *this; }
  [[nodiscard]] TensorOptions device(DeviceType t, DeviceIndex i = -1) const { return device(Device(t, i)); }
  [[nodiscard]] TensorOptions device(const char* text) const { return device(Device(text)); }
  [[nodiscard]] TensorOptions device_index(DeviceIndex i) const { return device(Device(kCUDA, i)); }
  [[nodiscard]] TensorOptions layout(Layout l) const {
    auto o = *this;
    o.raw_.layout = static_cast<int8_t>(l);
    return o;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> v) const {
    auto o = *this;
    o.raw_.requires_grad = v ? int8_t(*v) : int8_t(-1);
    return o;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> v) const {
    auto o = *this;
    o.raw_.pinned = v ? int8_t(*v) : int8_t(-1);
    return o;
  }
  [[nodiscard]] TensorOptions memory_format(MemoryFormat f) const {
    auto o = *this;
    o.raw_.memory_format = static_cast<int8_t>(f);
    return o;
  }
  caffe2::TypeMeta dtype() const {
    return caffe2::TypeMeta(static_cast<ScalarType>(raw_.dtype < 0 ? kbl_default_dtype() : raw_.dtype));
  }
  Device device() const {
    return raw_.device_type < 0 ? Device(kCPU) : Device(static_cast<DeviceType>(raw_.device_type), raw_.device_index);
  }
  bool has_dtype() const { return raw_.dtype >= 0; }
  bool has_device() const { return raw_.device_type >= 0; }
  kbl_options raw(std::optional<MemoryFormat> format = std::nullopt) const {
    auto o = raw_;
    if (format) o.memory_format = static_cast<int8_t>(*format);
    return o;
  }

 private:
  void set(Device d) {
    raw_.device_type = static_cast<int8_t>(d.type());
    raw_.device_index = d.index();
  }
  kbl_options raw_;
};

inline TensorOptions dtype(ScalarType t) { return TensorOptions().dtype(t); }
inline TensorOptions dtype(caffe2::TypeMeta t) { return TensorOptions().dtype(t); }
template <class T>
TensorOptions dtype() { return TensorOptions().dtype<T>(); }
inline TensorOptions device(Device d) { return TensorOptions().device(d); }
inline TensorOptions layout(Layout l) { return TensorOptions().layout(l); }
inline TensorOptions requires_grad(bool v = true) { return TensorOptions().requires_grad(v); }
inline TensorOptions device_index(DeviceIndex i) { return TensorOptions().device_index(i); }

}  // namespace kbl1
}  // namespace c10

namespace at {
using namespace c10;
}

// The names that torch:: has for them.
namespace torch {
using namespace at;
inline namespace kbl1 {
constexpr auto kUInt8 = c10::kByte;
constexpr auto kInt8 = c10::kChar;
constexpr auto kInt16 = c10::kShort;
constexpr auto kInt32 = c10::kInt;
constexpr auto kInt64 = c10::kLong;
constexpr auto kFloat16 = c10::kHalf;
constexpr auto kFloat32 = c10::kFloat;
constexpr auto kFloat64 = c10::kDouble;
using Dtype = at::ScalarType;
}  // namespace kbl1
}  // namespace torch

#pragma GCC visibility pop
