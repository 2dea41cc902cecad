import torch
from torch import nn


class GroupedAttention(nn.Module):
    def __init__(self, n_heads, n_kv_heads, width):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.width = n_heads, n_kv_heads, width
        self.factor = width**-0.5

    def spread(self, x):
        return torch.repeat_interleave(x, self.n_heads // self.n_kv_heads, dim=2)

    def forward(self, q, k, v):
        """(B, T, n, D) all."""
        k, v = self.spread(k), self.spread(v)
        s = torch.einsum("bihd,bjhd->bhij", q, k) * self.factor
        n = s.shape[-1]
        keep = torch.tril(torch.ones(n, n, dtype=torch.bool, device=s.device), 0)
        p = torch.where(keep, s, -torch.inf).softmax(-1)
        return torch.einsum("bhij,bjhd->bihd", p, v).flatten(2)


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    D = w_q.shape[0] // n_heads
    q = nn.functional.linear(x, w_q).unflatten(-1, (n_heads, D))
    k = nn.functional.linear(x, w_v).unflatten(-1, (n_kv_heads, D))
    v = nn.functional.linear(x, w_k).unflatten(-1, (n_kv_heads, D))
    layer = GroupedAttention(n_heads, n_kv_heads, x.shape[-1] / n_heads)
    return nn.functional.linear(layer(q, k, v), w_o)
