import math

import torch
from torch import nn


class RunningSoftmax:
    """Running maximum, normaliser and output of a set of rows."""

    def __init__(self, shape, device):
        self.m = torch.full((*shape[:-1], 1), -math.inf, device=device)
        self.l = torch.zeros(*shape[:-1], 1, device=device)
        self.o = torch.zeros(shape, device=device)

    def update(self, s, v):
        m = torch.maximum(self.m, s.amax(dim=-1, keepdim=True))
        alpha = torch.exp(self.m - m)
        p = torch.exp(s - m)
        self.l = alpha * self.l + p.sum(dim=-1, keepdim=True)
        self.o = alpha * self.o + p @ v
        self.m = m

    def result(self):
        return self.o / self.l


class FlashAttention(nn.Module):
    def __init__(self, block_size, causal):
        super().__init__()
        self.block_size = block_size
        self.causal = causal

    def mask(self, s, start, n_keys):
        n_queries, width = s.shape[-2:]
        row = torch.arange(n_queries, device=s.device).view(-1, 1)
        col = torch.arange(start, start + width, device=s.device).view(1, -1)
        visible = col <= row + n_keys - n_queries
        return s * visible

    def forward(self, q, k, v):
        state = RunningSoftmax(q.shape, q.device)
        q = q.float() / math.sqrt(q.shape[-1])
        start = 0
        for kb, vb in zip(k.split(self.block_size, dim=2), v.split(self.block_size, dim=2)):
            s = q @ kb.float().transpose(-2, -1)
            if self.causal:
                s = self.mask(s, start, k.shape[2])
            state.update(s, vb.float())
            start += kb.shape[2]
        return state.result().to(v.dtype)


def flash_attention(q, k, v, block_size, causal=False):
    return FlashAttention(block_size, causal)(q, k, v)
