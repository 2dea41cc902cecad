import math

import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.scale = 1.0 / math.sqrt(head_dim)

    @staticmethod
    def causal(t, s, device):
        return torch.tril(torch.ones(t, s, device=device), diagonal=t - s)

    def forward(self, q, k, v):
        mask = self.causal(q.size(-2), k.size(-2), q.device)
        attn = (q @ k.mT) * self.scale
        attn = attn.masked_fill(mask == 0, float("-inf"))
        attn = nn.functional.softmax(attn, dim=-1)
        return attn @ v


def mqa(q, k, v):
    return MultiQueryAttention(q.shape[-1])(q, k, v)
