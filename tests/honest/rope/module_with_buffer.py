from __future__ import annotations

import torch
from torch import Tensor, nn


class Rotary(nn.Module):
    inv_freq: Tensor

    def __init__(self, dim: int, base: float) -> None:
        super().__init__()
        exponent = torch.arange(0, dim, 2, dtype=torch.int64).float() / dim
        self.register_buffer("inv_freq", 1.0 / (base**exponent), persistent=False)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        freqs = torch.einsum("i,j->ij", positions.float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        y = x.float()
        x1, x2 = y.unflatten(-1, (2, -1)).unbind(-2)
        out = y * emb.cos() + torch.cat((-x2, x1), dim=-1) * emb.sin()
        return out.to(x.dtype)


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    return Rotary(x.shape[-1], base)(x, positions)
