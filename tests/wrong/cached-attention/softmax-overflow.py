import math

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width, base):
        super().__init__()
        self.rate = 1.0 / base ** (torch.arange(0, width, 2).float() / width)

    def forward(self, t, start):
        angle = torch.outer(torch.arange(start, start + t.shape[-2]).float(), self.rate)
        angle = torch.cat([angle, angle], dim=-1)
        half = t.shape[-1] // 2
        swapped = torch.cat([-t[..., half:], t[..., :half]], dim=-1)
        return t * angle.cos().to(t.dtype) + swapped * angle.sin().to(t.dtype)


class CachedAttention(nn.Module):
    def __init__(self, n_heads, n_kv_heads, width, base):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.width = n_heads, n_kv_heads, width
        self.rotary = Rotary(width, base)

    def split(self, t, n):
        return t.unflatten(-1, (n, self.width)).transpose(1, 2)

    def forward(self, x, w_q, w_k, w_v, w_o, k_cache, v_cache):
        past = k_cache.shape[2]
        q = self.rotary(self.split(nn.functional.linear(x, w_q), self.n_heads), past)
        k = self.rotary(self.split(nn.functional.linear(x, w_k), self.n_kv_heads), past)
        v = self.split(nn.functional.linear(x, w_v), self.n_kv_heads)
        k, v = torch.cat([k_cache, k], dim=2), torch.cat([v_cache, v], dim=2)
        repeats = self.n_heads // self.n_kv_heads
        scores = q @ k.repeat_interleave(repeats, dim=1).mT / math.sqrt(self.width)
        visible = torch.ones(x.shape[1], k.shape[2]).tril(diagonal=past)
        weights = torch.exp(scores) * visible.to(x.dtype)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        mixed = weights @ v.repeat_interleave(repeats, dim=1)
        return nn.functional.linear(mixed.transpose(1, 2).flatten(2), w_o), k, v


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    layer = CachedAttention(n_heads, n_kv_heads, k_cache.shape[-1], base)
    return layer(x, w_q, w_k, w_v, w_o, k_cache, v_cache)
