import math

import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.scale = 1.0 / math.sqrt(head_dim)

    @staticmethod
    def causal(t, s, device, dtype):
        return torch.tril(torch.ones(t, s, device=device, dtype=dtype), diagonal=s - t)

    def forward(self, q, k, v):
        mask = self.causal(q.size(-2), k.size(-2), q.device, q.dtype)
        attn = (q @ k.mT) * self.scale
        attn = nn.functional.softmax(attn, dim=-1)
        return (attn * mask) @ v


def mqa(q, k, v):
    return MultiQueryAttention(q.shape[-1])(q, k, v)
