// Streams, guards, events and checks of c10::cuda and at::cuda.
#pragma once
#include <kbl/ops.h>

#include <cuda_runtime_api.h>
#ifdef KBL_WANTS_CUBLAS
#include <cublas_v2.h>
#endif
#ifdef KBL_WANTS_CUBLASLT
#include <cublasLt.h>
#endif

#pragma GCC visibility push(hidden)

#define C10_CUDA_CHECK(expression)                                                              \
  do {                                                                                          \
    const cudaError_t kbl_error = expression;                                                   \
    if (C10_UNLIKELY(kbl_error != cudaSuccess))                                                 \
      ::kbl_cuda_check(kbl_error, __FILE__, __func__, static_cast<uint32_t>(__LINE__));         \
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(expression) C10_CUDA_CHECK(expression)
#define C10_CUDA_CHECK_WARN(expression)                                       \
  do {                                                                        \
    const cudaError_t kbl_error = expression;                                 \
    if (C10_UNLIKELY(kbl_error != cudaSuccess)) {                             \
      (void)cudaGetLastError();                                               \
      TORCH_WARN("CUDA warning: ", cudaGetErrorString(kbl_error));            \
    }                                                                         \
  } while (0)
#ifdef KBL_WANTS_CUBLAS
#define TORCH_CUDABLAS_CHECK(expression)                                                                          \
  do {                                                                                                            \
    cublasStatus_t kbl_status = expression;                                                                       \
    if (kbl_status != CUBLAS_STATUS_SUCCESS)                                                                      \
      ::kbl_cuda_blas_check(kbl_status, #expression, __func__, __FILE__, static_cast<uint32_t>(__LINE__));        \
  } while (0)
#endif

namespace c10 {
namespace cuda {
inline namespace kbl1 {

class CUDAStream {
 public:
  explicit CUDAStream(kbl_stream s) : stream_(s) {}
  bool operator==(const CUDAStream& o) const noexcept { return stream_.raw == o.stream_.raw; }
  bool operator!=(const CUDAStream& o) const noexcept { return !(*this == o); }
  operator cudaStream_t() const { return stream(); }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(stream_.raw); }
  int64_t id() const { return stream_.id; }
  DeviceIndex device_index() const { return stream_.device; }
  DeviceType device_type() const { return kCUDA; }
  Device device() const { return Device(kCUDA, device_index()); }
  void synchronize() const { kbl_cuda_stream_synchronize(stream_); }
  bool query() const {
    auto error = cudaStreamQuery(stream());
    if (error == cudaSuccess) return true;
    if (error != cudaErrorNotReady) C10_CUDA_CHECK(error);
    (void)cudaGetLastError();
    return false;
  }
  kbl_stream kbl_raw() const { return stream_; }

 private:
  kbl_stream stream_;
};

inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) { return CUDAStream(kbl_cuda_current_stream(device)); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) { return CUDAStream(kbl_cuda_default_stream(device)); }
inline CUDAStream getStreamFromPool(const int priority, DeviceIndex device = -1) {
  return CUDAStream(kbl_cuda_pool_stream(priority, device));
}
inline CUDAStream getStreamFromPool(const bool high_priority = false, DeviceIndex device = -1) {
  return getStreamFromPool(high_priority ? -1 : 0, device);
}
inline CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
  return CUDAStream(kbl_cuda_external_stream(stream, device));
}
inline void setCurrentCUDAStream(CUDAStream stream) { kbl_cuda_set_stream(stream.kbl_raw()); }
inline DeviceIndex current_device() { return static_cast<DeviceIndex>(kbl_cuda_device()); }
inline DeviceIndex device_count() { return static_cast<DeviceIndex>(kbl_cuda_device_count()); }
inline void set_device(DeviceIndex device) { kbl_cuda_set_device(device); }
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

class CUDAGuard {
 public:
  explicit CUDAGuard(DeviceIndex device) : before_(kbl_cuda_exchange_device(device)), now_(device) {}
  explicit CUDAGuard(Device device) : CUDAGuard(checked(device)) {}
  ~CUDAGuard() { kbl_cuda_exchange_device(before_); }
  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;
  void set_device(Device device) { set_index(checked(device)); }
  void set_index(DeviceIndex device) {
    kbl_cuda_exchange_device(device);
    now_ = device;
  }
  Device original_device() const { return Device(kCUDA, static_cast<DeviceIndex>(before_)); }
  Device current_device() const { return Device(kCUDA, now_); }

 private:
  static DeviceIndex checked(Device device) {
    TORCH_CHECK(device.is_cuda(), "Expected a CUDA device, but got ", device);
    return device.has_index() ? device.index() : static_cast<DeviceIndex>(kbl_cuda_device());
  }
  int before_;
  DeviceIndex now_;
};

class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalCUDAGuard(DeviceIndex device) { guard_.emplace(device); }
  void set_device(Device device) { guard_.emplace(device); }
  void set_index(DeviceIndex device) { guard_.emplace(device); }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAGuard> guard_;
};

class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream stream)
      : device_(stream.device_index()), before_(getCurrentCUDAStream(stream.device_index())), now_(stream) {
    setCurrentCUDAStream(stream);
  }
  ~CUDAStreamGuard() { kbl_cuda_set_stream(before_.kbl_raw()); }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;
  CUDAStream original_stream() const { return before_; }
  CUDAStream current_stream() const { return now_; }

 private:
  CUDAGuard device_;
  CUDAStream before_, now_;
};

}  // namespace kbl1
}  // namespace cuda
}  // namespace c10

namespace at {
namespace cuda {
using namespace c10::cuda;
inline namespace kbl1 {

inline cudaDeviceProp* getCurrentDeviceProperties() {
  return static_cast<cudaDeviceProp*>(const_cast<void*>(kbl_cuda_properties(-1)));
}
inline cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device) {
  return static_cast<cudaDeviceProp*>(const_cast<void*>(kbl_cuda_properties(device)));
}
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
inline bool is_available() { return kbl_cuda_device_count() > 0; }
#ifdef KBL_WANTS_CUBLAS
inline cublasHandle_t getCurrentCUDABlasHandle() { return static_cast<cublasHandle_t>(kbl_cuda_blas_handle()); }
#endif
#ifdef KBL_WANTS_CUBLASLT
inline cublasLtHandle_t getCurrentCUDABlasLtHandle() { return static_cast<cublasLtHandle_t>(kbl_cuda_blaslt_handle()); }
#endif

// Made at its first record, on the stream's device.
class CUDAEvent {
 public:
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned int flags) : flags_(flags) {}
  ~CUDAEvent() {
    if (event_) (void)cudaEventDestroy(event_);
  }
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&& o) noexcept { *this = std::move(o); }
  CUDAEvent& operator=(CUDAEvent&& o) noexcept {
    std::swap(flags_, o.flags_);
    std::swap(recorded_, o.recorded_);
    std::swap(event_, o.event_);
    return *this;
  }
  operator cudaEvent_t() const { return event_; }
  cudaEvent_t event() const { return event_; }
  bool isCreated() const { return event_ != nullptr; }
  void record() { record(getCurrentCUDAStream()); }
  void record(const CUDAStream& stream) {
    if (!event_) {
      CUDAGuard guard(stream.device_index());
      C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    }
    CUDAGuard guard(stream.device_index());
    C10_CUDA_CHECK(cudaEventRecord(event_, stream));
    recorded_ = true;
  }
  void recordOnce(const CUDAStream& stream) {
    if (!recorded_) record(stream);
  }
  void block(const CUDAStream& stream) {
    if (!event_) return;
    CUDAGuard guard(stream.device_index());
    C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
  }
  bool query() const {
    if (!event_) return true;
    auto error = cudaEventQuery(event_);
    if (error == cudaSuccess) return true;
    if (error != cudaErrorNotReady) C10_CUDA_CHECK(error);
    (void)cudaGetLastError();
    return false;
  }
  void synchronize() const {
    if (event_) C10_CUDA_CHECK(cudaEventSynchronize(event_));
  }
  float elapsed_time(const CUDAEvent& o) const {
    TORCH_CHECK_VALUE(!(flags_ & cudaEventDisableTiming) && !(o.flags_ & cudaEventDisableTiming),
                      "Both events must be created with argument 'enable_timing=True'.");
    TORCH_CHECK_VALUE(event_ && o.event_, "Both events must be recorded before calculating elapsed time.");
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, event_, o.event_));
    return ms;
  }

 private:
  unsigned int flags_ = cudaEventDisableTiming;
  bool recorded_ = false;
  cudaEvent_t event_ = nullptr;
};

}  // namespace kbl1
}  // namespace cuda

inline namespace kbl1 {
// On the CPU there is no device to choose.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) {
    if (device.is_cuda()) guard_.set_device(device);
  }

 private:
  c10::cuda::OptionalCUDAGuard guard_;
};
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device && device->is_cuda()) guard_.set_device(*device);
  }

 private:
  c10::cuda::OptionalCUDAGuard guard_;
};
}  // namespace kbl1
}  // namespace at

#pragma GCC visibility pop
