// The CUDA half for a torch without CUDA: solutions that want it can be compiled here, and not run.
#include <c10/util/Exception.h>
#include <kbl/abi.h>

#define KBL_ABSENT TORCH_CHECK(false, "this torch was built without CUDA")

extern "C" {
kbl_stream kbl_cuda_current_stream(int) { KBL_ABSENT; }
kbl_stream kbl_cuda_default_stream(int) { KBL_ABSENT; }
kbl_stream kbl_cuda_pool_stream(int, int) { KBL_ABSENT; }
kbl_stream kbl_cuda_external_stream(void*, int) { KBL_ABSENT; }
void kbl_cuda_set_stream(kbl_stream) { KBL_ABSENT; }
int kbl_cuda_device() { KBL_ABSENT; }
int kbl_cuda_device_count() { return 0; }
void kbl_cuda_set_device(int) { KBL_ABSENT; }
int kbl_cuda_exchange_device(int) { KBL_ABSENT; }
void kbl_cuda_check(int, const char*, const char*, uint32_t) { KBL_ABSENT; }
const void* kbl_cuda_properties(int) { KBL_ABSENT; }
void* kbl_cuda_blas_handle() { KBL_ABSENT; }
void* kbl_cuda_blaslt_handle() { KBL_ABSENT; }
void kbl_cuda_blas_check(int, const char*, const char*, const char*, uint32_t) { KBL_ABSENT; }
void kbl_cuda_stream_synchronize(kbl_stream) { KBL_ABSENT; }
}
