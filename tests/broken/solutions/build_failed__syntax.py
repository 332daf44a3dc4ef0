"""C++ that does not compile."""

from torch import nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="does_not_compile",
    cpp_sources="int f( { return 1; }",
    functions=["f"],
    no_implicit_headers=True,
)


class ModelNew(nn.Module):
    pass
