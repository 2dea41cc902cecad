import torch
from torch import nn


class GroupedAttention(nn.Module):
    def __init__(self, n_heads, n_kv_heads, width):
        super().__init__()
        self.h, self.g, self.w = n_heads, n_kv_heads, width

    def forward(self, q, k, v):
        q = q.unflatten(-1, (self.h, self.w)).transpose(1, 2)
        k = k.unflatten(-1, (self.g, self.w)).transpose(1, 2)
        v = v.unflatten(-1, (self.g, self.w)).transpose(1, 2)
        k, v = (t.repeat_interleave(self.h // self.g, dim=1) for t in (k, v))
        s = q @ k.mT / self.w**0.5
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(), torch.finfo(s.dtype).min)
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    layer = GroupedAttention(n_heads, n_kv_heads, w_q.shape[0] // n_heads)
    return layer(x @ w_q.T, x @ w_k.T, x @ w_v.T) @ w_o.T
