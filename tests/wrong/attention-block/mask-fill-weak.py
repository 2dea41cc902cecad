import torch
from torch import nn


class DecoderAttention(nn.Module):
    NEG = -1e4

    def __init__(self, n_heads, n_kv_heads, head_dim, base):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, head_dim
        power = torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim
        self.inv_freq = 1.0 / float(base) ** power

    def rope(self, t, positions):
        angle = positions.double()[:, None] * self.inv_freq.to(t.device)
        cos = torch.cat((angle, angle), -1).cos().to(t.dtype)
        sin = torch.cat((angle, angle), -1).sin().to(t.dtype)
        left, right = t.chunk(2, dim=-1)
        return t * cos + torch.cat((-right, left), -1) * sin

    def heads(self, t, n):
        return t.unflatten(-1, (n, self.head_dim)).movedim(-2, 1)

    def forward(self, x, w_q, w_k, w_v, w_o, positions):
        q = self.rope(self.heads(x @ w_q.T, self.n_heads), positions)
        k = self.rope(self.heads(x @ w_k.T, self.n_kv_heads), positions)
        v = self.heads(x @ w_v.T, self.n_kv_heads)
        q = q.unflatten(1, (self.n_kv_heads, -1))
        att = torch.einsum("bngtd,bnsd->bngts", q, k) * self.head_dim**-0.5
        n = x.shape[1]
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        att = att.masked_fill(future, self.NEG).softmax(-1)
        y = torch.einsum("bngts,bnsd->btngd", att, v)
        return y.flatten(2) @ w_o.T


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    layer = DecoderAttention(n_heads, n_kv_heads, w_q.shape[0] // n_heads, base)
    return layer(x, w_q, w_k, w_v, w_o, positions)
