import math

import torch
from torch import nn


class Rope(nn.Module):
    """Half-split rotation, as a product of complex numbers."""

    def __init__(self, width, base):
        super().__init__()
        self.half = width // 2
        exponents = -2.0 * torch.arange(self.half, dtype=torch.float64) / width
        self.register_buffer("freqs", float(base) ** exponents)

    def forward(self, x, positions):
        theta = torch.outer(positions.to(torch.float64), self.freqs)
        turn = torch.polar(torch.ones_like(theta), theta)
        z = torch.complex(x[..., : self.half].double(), x[..., self.half :].double()) * turn
        return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, weights, n_heads, n_kv_heads, base):
        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = weights
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.width = self.w_q.shape[0] // n_heads
        self.rope = Rope(self.width, base)

    def heads(self, x, w, n):
        return nn.functional.linear(x, w).unflatten(-1, (n, self.width)).transpose(1, 2)

    def share(self, x):
        return x.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)

    def forward(self, x, positions):
        q = self.heads(x, self.w_q, self.n_heads)
        k = self.heads(x, self.w_k, self.n_kv_heads)
        v = self.heads(x, self.w_v, self.n_kv_heads)
        k = self.rope(k, positions)
        k, v = self.share(k), self.share(v)
        scores = torch.matmul(q, k.mT) / math.sqrt(self.width)
        n = x.shape[1]
        order = torch.arange(n, device=x.device)
        visible = order[None, :] <= order[:, None]
        scores = scores.masked_fill(~visible, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        mixed = torch.matmul(weights, v)
        return nn.functional.linear(mixed.transpose(1, 2).flatten(2), self.w_o)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    return Block((w_q, w_k, w_v, w_o), n_heads, n_kv_heads, base)(x, positions)
