"""Compute the linear layers of a float32 model on a CPU with oneDNN.

PyTorch computes float32 products with MKL, which uses AVX-512 only on Intel's processors. oneDNN uses it on all: on an
AMD EPYC it was 2.2 times as fast (decision 123). The numbers differ by rounding.
"""

import torch
from torch import Tensor, nn


class OneDnnLinear(nn.Module):
    """A linear layer that shares the weights of another one; for inference only."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, inputs: Tensor) -> Tensor:
        product: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "none", [], "")
        return product


def has_onednn() -> bool:
    """Report whether this build of PyTorch has oneDNN's product of matrices."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def use_onednn(body: nn.Module) -> int:
    """Replace the float32 linear layers on the CPU; return how many. 0 without oneDNN."""
    layers = [(name, layer) for name, layer in body.named_modules() if name and type(layer) is nn.Linear]
    fit = [(name, layer) for name, layer in layers if _fits(layer)] if has_onednn() else []
    for name, layer in fit:
        body.set_submodule(name, OneDnnLinear(layer))
    return len(fit)


def _fits(layer: nn.Linear) -> bool:
    return layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
