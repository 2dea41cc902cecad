import math

import torch
import torch.nn.functional as F
from torch import nn


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x, positions):
        freqs = torch.outer(positions.float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return (x.float() * emb.cos() + rotate_half(x.float()) * emb.sin()).to(x.dtype)


class CachedSelfAttention(nn.Module):
    def __init__(self, n_heads, n_kv_heads, head_dim, base):
        super().__init__()
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = head_dim
        self.rope = RotaryEmbedding(head_dim, base)

    def repeat_kv(self, t):
        b, h, s, d = t.shape
        n_rep = self.n_heads // self.n_kv_heads
        return t[:, :, None].expand(b, h, n_rep, s, d).reshape(b, h * n_rep, s, d)

    def forward(self, x, w_q, w_k, w_v, w_o, k_cache, v_cache):
        b, t, _ = x.shape
        past = k_cache.shape[2]
        q = F.linear(x, w_q).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
        k = F.linear(x, w_k).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = F.linear(x, w_v).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)

        positions = torch.arange(past, past + t, device=x.device)
        q = self.rope(q, positions)
        k = self.rope(k, positions)

        k_cache = torch.cat([k_cache, k], dim=2)
        v_cache = torch.cat([v_cache, v], dim=2)
        keys, values = self.repeat_kv(k_cache), self.repeat_kv(v_cache)

        att = (q @ keys.transpose(-2, -1)) / math.sqrt(self.head_dim)
        causal = torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril()
        att = att.masked_fill(~causal, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ values).transpose(1, 2).contiguous().view(b, t, -1)
        return F.linear(y, w_o), k_cache, v_cache


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    head_dim = w_q.shape[0] // n_heads
    layer = CachedSelfAttention(n_heads, n_kv_heads, head_dim, base).to(x.device)
    return layer(x, w_q, w_k, w_v, w_o, k_cache, v_cache)
