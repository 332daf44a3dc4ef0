#include <torch/extension.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels.h"

namespace {

void check_input(const torch::Tensor& t, const char* name, int64_t dim) {
    TORCH_CHECK(t.is_cuda(), name, " must be a CUDA tensor");
    TORCH_CHECK(t.is_contiguous(), name, " must be contiguous");
    TORCH_CHECK(t.scalar_type() == torch::kFloat32, name, " must be float32, got ", t.scalar_type());
    TORCH_CHECK(t.dim() == dim, name, " must have ", dim, " dimensions, got ", t.dim());
}

// silu(x @ w + b), one weight matrix and one bias vector per group.
torch::Tensor grouped_layer(const torch::Tensor& x, const torch::Tensor& w, const torch::Tensor& b) {
    torch::Tensor out = torch::matmul(x, w).contiguous();
    batched_mlp::launch_bias_silu(out.data_ptr<float>(),
                                  b.data_ptr<float>(),
                                  out.size(0),
                                  out.size(1),
                                  out.size(2),
                                  c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

torch::Tensor forward(const torch::Tensor& x,
                      const torch::Tensor& w1,
                      const torch::Tensor& b1,
                      const torch::Tensor& w2,
                      const torch::Tensor& b2,
                      const torch::Tensor& proj_weight,
                      const torch::Tensor& proj_bias) {
    check_input(x, "x", 3);
    check_input(w1, "w1", 3);
    check_input(b1, "b1", 2);
    check_input(w2, "w2", 3);
    check_input(b2, "b2", 2);
    check_input(proj_weight, "proj_weight", 2);
    check_input(proj_bias, "proj_bias", 1);
    TORCH_CHECK(x.size(0) == w1.size(0) && x.size(0) == w2.size(0), "every group needs its own weights");
    TORCH_CHECK(b1.size(0) == w1.size(0) && b1.size(1) == w1.size(2), "b1 does not match w1");
    TORCH_CHECK(b2.size(0) == w2.size(0) && b2.size(1) == w2.size(2), "b2 does not match w2");

    torch::NoGradGuard no_grad;  // the kernels work in place, outside of autograd
    const c10::cuda::CUDAGuard device_guard(x.device());

    const torch::Tensor hidden = grouped_layer(x, w1, b1);
    const torch::Tensor y = grouped_layer(hidden, w2, b2);

    torch::Tensor out = at::linear(y, proj_weight, proj_bias).contiguous();
    batched_mlp::launch_silu(out.data_ptr<float>(), out.numel(), c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "Grouped two-layer SiLU MLP with a shared output projection";
    m.def("forward",
          &forward,
          "Grouped MLP forward (CUDA)",
          py::arg("x"),
          py::arg("w1"),
          py::arg("b1"),
          py::arg("w2"),
          py::arg("b2"),
          py::arg("proj_weight"),
          py::arg("proj_bias"),
          py::call_guard<py::gil_scoped_release>());
}
