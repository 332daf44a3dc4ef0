import torch
import torch.nn as nn
from torch.utils import cpp_extension

source = """
#include <c10/util/Optional.h>
#include <omp.h>
#include <cmath>

torch::Tensor layer_norm_forward(
    const torch::Tensor& input,
    const c10::optional<torch::Tensor>& weight,
    const c10::optional<torch::Tensor>& bias,
    double eps) {
    TORCH_CHECK(!input.is_cuda(), "input must be on the CPU");
    TORCH_CHECK(input.dim() == 2, "input must be 2D, got ", input.dim(), "D");
    TORCH_CHECK(input.scalar_type() == at::ScalarType::Float, "input must be float32");

    const int64_t rows = input.size(0);
    const int64_t cols = input.size(1);

    // Missing affine parameters behave like weight = 1, bias = 0.
    torch::Tensor gamma = weight.has_value() ? weight.value().contiguous()
                                             : torch::ones({cols}, input.options());
    torch::Tensor beta = bias.has_value() ? bias.value().contiguous()
                                          : torch::zeros({cols}, input.options());
    TORCH_CHECK(gamma.dim() == 1 && gamma.size(0) == cols, "weight must have shape [", cols, "]");
    TORCH_CHECK(beta.dim() == 1 && beta.size(0) == cols, "bias must have shape [", cols, "]");

    torch::Tensor output = torch::empty({rows, cols}, input.options());

    auto x = input.accessor<float, 2>();
    auto y = output.accessor<float, 2>();
    auto g = gamma.accessor<float, 1>();
    auto b = beta.accessor<float, 1>();

    #pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        auto xi = x[i];
        auto yi = y[i];

        float sum = 0.f;
        for (int64_t j = 0; j < cols; j++) {
            sum += xi[j];
        }
        const float mean = sum / static_cast<float>(cols);

        float sq = 0.f;
        for (int64_t j = 0; j < cols; j++) {
            const float d = xi[j] - mean;
            sq += d * d;
        }
        const float rstd = 1.f / std::sqrt(sq / static_cast<float>(cols) + static_cast<float>(eps));

        for (int64_t j = 0; j < cols; j++) {
            yi[j] = (xi[j] - mean) * rstd * g[j] + b[j];
        }
    }
    return output;
}

int max_threads() {
    return omp_get_max_threads();
}
"""

layer_norm_ext = cpp_extension.load_inline(
    name="cpu_layernorm_openmp",
    cpp_sources=[source],
    functions={
        "layer_norm_forward": "Layer norm over the last dimension of a 2D tensor (OpenMP)",
        "max_threads": "Threads that a parallel region would get",
    },
    extra_cflags=["-O3", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, hidden: int, eps: float):
        super().__init__()
        self.norm = nn.LayerNorm(hidden, eps=eps)  # only holds the parameters
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(self.norm.bias, mean=0.0, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shape = x.shape
        out = layer_norm_ext.layer_norm_forward(
            x.reshape(-1, shape[-1]), self.norm.weight, self.norm.bias, self.norm.eps
        )
        return out.view(shape)
