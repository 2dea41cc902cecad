import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class CachedAttention(nn.Module):
    def __init__(self, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, base):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            self.linear(w) for w in (w_q, w_k, w_v, w_o)
        )
        self.n_heads, self.n_kv_heads, self.base = n_heads, n_kv_heads, base

    @staticmethod
    def linear(w):
        layer = nn.Linear(w.shape[1], w.shape[0], bias=False, dtype=w.dtype)
        with torch.no_grad():
            layer.weight.copy_(w)
        return layer

    def cos_sin(self, positions, head_dim):
        inv_freq = 1.0 / (self.base ** (torch.arange(0, head_dim, 2).float() / head_dim))
        freqs = positions.float()[:, None] @ inv_freq[None, :]
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()

    @staticmethod
    def rotate_half(x):
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((-x2, x1), dim=-1)

    def forward(self, x, k_cache, v_cache):
        B, T, _ = x.shape
        S, D = k_cache.shape[2], k_cache.shape[3]
        q = self.q_proj(x).view(B, T, self.n_heads, D).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.n_kv_heads, D).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.n_kv_heads, D).transpose(1, 2)
        cos, sin = self.cos_sin(torch.arange(T) + S, D)
        q = (q * cos + self.rotate_half(q) * sin).to(x.dtype)
        k = (k * cos + self.rotate_half(k) * sin).to(x.dtype)

        # room for the new slots, then write them
        k_cache = F.pad(k_cache, (0, 0, 0, T))
        v_cache = F.pad(v_cache, (0, 0, 0, T))
        slots = torch.arange(S, S + T)
        k_cache.index_copy_(2, slots, k)
        v_cache.index_copy_(2, slots, v)

        mask = torch.full((T, S + T), float("-inf"), dtype=x.dtype)
        mask = torch.triu(mask, diagonal=S + 1)
        n_rep = self.n_heads // self.n_kv_heads
        keys = torch.repeat_interleave(k_cache, n_rep, 1)
        values = torch.repeat_interleave(v_cache, n_rep, 1)
        scores = torch.matmul(q, keys.transpose(2, 3)) / math.sqrt(D) + mask
        probs = F.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)
        y = torch.matmul(probs, values).transpose(1, 2).contiguous().view(B, T, -1)
        return self.o_proj(y), k_cache, v_cache


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    layer = CachedAttention(w_q, w_k, w_v, w_o, n_heads, n_kv_heads, base).eval()
    with torch.no_grad():
        return layer(x, k_cache, v_cache)


if __name__ == "__main__":
    torch.manual_seed(0)
    d, H, G, D = 8, 4, 2, 4
    w = [torch.randn(n, d) for n in (H * D, G * D, G * D)] + [torch.randn(d, H * D)]
    x = torch.randn(1, 5, d)
    empty = torch.zeros(1, G, 0, D)
    whole, _, _ = cached_attention(x, *w, H, G, empty, empty)
    _, kc, vc = cached_attention(x[:, :3], *w, H, G, empty, empty)
    rest, _, _ = cached_attention(x[:, 3:], *w, H, G, kc, vc)
    print((whole[:, 3:] - rest).abs().max())
