// at::parallel_for. As in torch's own header it is parallel only in code compiled with OpenMP, and serial else.
#pragma once
#include <kbl/core.h>

#include <algorithm>
#include <atomic>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

#pragma GCC visibility push(hidden)

namespace at {
inline namespace kbl1 {
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }
inline int get_num_threads() { return kbl_num_threads(); }
inline void set_num_threads(int count) { kbl_set_num_threads(count); }
inline int get_thread_num() { return kbl_thread_num(); }
inline bool in_parallel_region() { return kbl_in_parallel_region(); }

// One share of the work: which thread it is, and that what it calls runs serially.
struct InParallelRegion {
  explicit InParallelRegion(int number) : thread(kbl_thread_num()), parallel(kbl_parallel_guard(true)) {
    kbl_set_thread_num(number);
  }
  ~InParallelRegion() {
    kbl_set_thread_num(thread);
    kbl_parallel_guard(parallel);
  }
  int thread;
  bool parallel;
};

#ifdef _OPENMP
template <class F>
void invoke_parallel(int64_t begin, int64_t end, int64_t grain, const F& f) {
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  std::exception_ptr error;
#pragma omp parallel
  {
    int64_t threads = omp_get_num_threads();
    if (grain > 0) threads = std::min(threads, divup(end - begin, grain));
    int64_t number = omp_get_thread_num();
    int64_t chunk = divup(end - begin, threads);
    int64_t first = begin + number * chunk;
    if (first < end) {
      try {
        InParallelRegion region(static_cast<int>(number));
        f(first, std::min(end, chunk + first));
      } catch (...) {
        if (!failed.test_and_set()) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}
#endif

template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(grain >= 0);
  if (begin >= end) return;
#ifdef _OPENMP
  const auto count = end - begin;
  const bool parallel =
      count > grain && count > 1 && !in_parallel_region() && get_num_threads() > 1;
  if (parallel) {
    invoke_parallel(begin, end, grain, f);
    return;
  }
#endif
  InParallelRegion region(0);
  f(begin, end);
}

template <class T, class F, class S>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, const T identity, const F& f, const S& combine) {
  TORCH_CHECK(grain >= 0);
  if (begin >= end) return identity;
#ifdef _OPENMP
  const bool parallel = end - begin > grain && !in_parallel_region() && get_num_threads() > 1;
  if (parallel) {
    std::vector<T> parts(static_cast<size_t>(get_num_threads()), identity);
    invoke_parallel(begin, end, grain,
                    [&](int64_t first, int64_t last) { parts[get_thread_num()] = f(first, last, identity); });
    T result = identity;
    for (auto part : parts) result = combine(result, part);
    return result;
  }
#endif
  InParallelRegion region(0);
  return f(begin, end, identity);
}
}  // namespace kbl1
}  // namespace at

#pragma GCC visibility pop
