"""MXFP8 in PyTorch: E4M3 elements with one E8M0 scale per 32 along the input dimension, RCEIL rule."""

import torch
from torch import Tensor

BLOCK = 32


def quantize_mxfp8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """E4M3 elements of the same shape and scale bytes [..., columns / 32] of an fp32 weight.

    The scale is the largest magnitude over 448, rounded up to a power of two, so nothing saturates.
    """
    blocks = weight.float().unflatten(-1, (-1, BLOCK))
    inverse = torch.tensor(1 / 448, dtype=torch.float32, device=weight.device)
    ratio = blocks.abs().amax(-1) * inverse
    bits = ratio.view(torch.int32)
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    subnormal = (mantissa > 0x400000).int()
    scale = torch.where(exponent == 0, subnormal, (exponent + (mantissa != 0).int()).clamp_max(254))
    factor = torch.exp2((127 - scale).float())[..., None]
    elements = (blocks * factor).clamp(-448, 448).to(torch.float8_e4m3fn)
    return elements.flatten(-2), scale.to(torch.uint8)


def dequantize_mxfp8(elements: Tensor, scales: Tensor) -> Tensor:
    """fp32 values, exact."""
    blocks = elements.float().unflatten(-1, (-1, BLOCK))
    return (blocks * torch.exp2(scales.float() - 127)[..., None]).flatten(-2)


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight: Tensor) -> Tensor:
        return dequantize_mxfp8(*quantize_mxfp8(weight)).to(weight.dtype)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        return gradient


def fake_mxfp8(weight: Tensor) -> Tensor:
    """The weight as MXFP8 would give it back; its gradient passes unchanged."""
    return _StraightThrough.apply(weight)
