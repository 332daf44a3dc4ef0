// The types that kernels accumulate in.
#pragma once
#include <kbl/core.h>

namespace at {
inline namespace kbl1 {
template <class T>
struct OpMathType {
  static_assert(std::is_arithmetic_v<T>, "no math type for this type");
  using type = T;
};
#ifdef KBL_WANTS_HALF
template <>
struct OpMathType<at::Half> {
  using type = float;
};
template <>
struct OpMathType<at::BFloat16> {
  using type = float;
};
#endif
template <class T>
using opmath_type = typename OpMathType<T>::type;

// On the device floats stay floats and integers widen; on the host floats widen too.
template <class T, bool is_cuda>
struct AccumulateType {
  static_assert(std::is_arithmetic_v<T>, "no accumulation type for this type");
  using type = std::conditional_t<std::is_same_v<T, bool>, bool,
                                  std::conditional_t<std::is_integral_v<T>, int64_t,
                                                     std::conditional_t<is_cuda && !std::is_same_v<T, double>, float,
                                                                        double>>>;
};
#ifdef KBL_WANTS_HALF
template <bool is_cuda>
struct AccumulateType<at::Half, is_cuda> {
  using type = float;
};
template <bool is_cuda>
struct AccumulateType<at::BFloat16, is_cuda> {
  using type = float;
};
#endif
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
C10_ALWAYS_INLINE C10_HOST_DEVICE T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T>
C10_ALWAYS_INLINE C10_HOST_DEVICE T round_up(T a, T b) { return ceil_div(a, b) * b; }
}  // namespace kbl1
}  // namespace at

namespace c10 {
inline namespace kbl1 {
// c10::irange: half-open, counted upwards; a negative end counts as zero.
template <class I>
struct integer_range {
  struct iterator {
    I value;
    I operator*() const { return value; }
    iterator& operator++() {
      ++value;
      return *this;
    }
    bool operator==(const iterator& o) const { return value == o.value; }
    bool operator!=(const iterator& o) const { return value != o.value; }
  };
  iterator begin() const { return {first}; }
  iterator end() const { return {last}; }
  I first, last;
};
template <class A, class B>
integer_range<B> irange(A begin, B end) {
  return {static_cast<B>(begin), std::max(static_cast<B>(begin), end)};
}
template <class I>
integer_range<I> irange(I end) { return {I(), std::max(I(), end)}; }
}  // namespace kbl1
}  // namespace c10
