// The glue's CUDA half, for a torch that has one.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <kbl/abi.h>

namespace {
using c10::cuda::CUDAStream;

kbl_stream raw(const CUDAStream& s) { return {s.stream(), s.id(), s.device_index()}; }
CUDAStream stream(kbl_stream s) {
  return CUDAStream(c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kCUDA, s.device), s.id));
}
auto index(int device) { return static_cast<c10::DeviceIndex>(device); }
}  // namespace

extern "C" {
kbl_stream kbl_cuda_current_stream(int device) { return raw(c10::cuda::getCurrentCUDAStream(index(device))); }
kbl_stream kbl_cuda_default_stream(int device) { return raw(c10::cuda::getDefaultCUDAStream(index(device))); }
kbl_stream kbl_cuda_pool_stream(int priority, int device) {
  return raw(c10::cuda::getStreamFromPool(priority, index(device)));
}
kbl_stream kbl_cuda_external_stream(void* s, int device) {
  return raw(c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(s), index(device)));
}
void kbl_cuda_set_stream(kbl_stream s) { c10::cuda::setCurrentCUDAStream(stream(s)); }
int kbl_cuda_device() { return c10::cuda::current_device(); }
int kbl_cuda_device_count() { return c10::cuda::device_count(); }
void kbl_cuda_set_device(int device) { c10::cuda::set_device(index(device)); }
int kbl_cuda_exchange_device(int device) {
  auto before = c10::cuda::current_device();
  if (before != device) c10::cuda::set_device(index(device));
  return before;
}
void kbl_cuda_check(int error, const char* file, const char* function, uint32_t line) {
  c10::cuda::c10_cuda_check_implementation(error, file, function, static_cast<int>(line), true);
}
const void* kbl_cuda_properties(int device) {
  return device < 0 ? at::cuda::getCurrentDeviceProperties() : at::cuda::getDeviceProperties(index(device));
}
void* kbl_cuda_blas_handle() { return at::cuda::getCurrentCUDABlasHandle(); }
void* kbl_cuda_blaslt_handle() { return at::cuda::getCurrentCUDABlasLtHandle(); }
void kbl_cuda_blas_check(int status, const char* call, const char* function, const char* file, uint32_t line) {
  throw c10::Error({function, file, line}, c10::str("CUDA error: ",
                   at::cuda::blas::_cublasGetErrorEnum(static_cast<cublasStatus_t>(status)), " when calling `", call, "`"));
}
void kbl_cuda_stream_synchronize(kbl_stream s) { stream(s).synchronize(); }
}
