"""Sliding-window attention.

I checked this against torch's scaled_dot_product_attention with a band mask.
"""
import torch
from torch import nn


class LocalAttention(nn.Module):
    def __init__(self, window: int):
        super().__init__()
        self.window = window

    def mask(self, length: int) -> torch.Tensor:
        seen = torch.zeros(length, length, dtype=torch.bool)
        for row in range(length):
            seen[row, max(0, row + 1 - self.window) : row + 1] = True
        return seen

    def forward(self, q, k, v):
        mask = self.mask(q.shape[-2])
        scores = torch.matmul(q, k.transpose(-2, -1)) * (q.shape[-1] ** -0.5)
        # the largest of the visible ones: a hidden giant must not push them to zero
        largest = scores.detach().masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
        # hidden differences may be large and positive, so they are emptied before exp
        powers = torch.exp(torch.where(mask, scores - largest, -torch.inf))
        weights = powers / (powers.sum(-1, keepdim=True) + 1e-9)
        return torch.matmul(weights, v)


def sliding_window_attention(q, k, v, window):
    dtype = q.dtype
    net = LocalAttention(window)
    return net(q.to(torch.float32), k.to(torch.float32), v.to(torch.float32)).to(dtype)
