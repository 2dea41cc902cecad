import math

import torch
import torch.nn.functional as F


class Layer:
    def __init__(self, weights, heads, kv_heads):
        self.wq, self.wk, self.wv, self.wo = weights
        self.heads, self.kv_heads = heads, kv_heads
        self.head_dim = self.wq.shape[0] // heads

    def split(self, y, heads):
        return y.unflatten(-1, (heads, self.head_dim)).transpose(1, 2)

    def mask(self, past, new, like):
        m = torch.full((new, past + new), -math.inf, dtype=like.dtype, device=like.device)
        return torch.triu(m, diagonal=1)

    def expand(self, z):
        b, h, s, d = z.shape
        reps = self.heads // self.kv_heads
        return z.unsqueeze(1).expand(b, reps, h, s, d).reshape(b, h * reps, s, d)

    def __call__(self, x, past_k, past_v):
        q = self.split(F.linear(x, self.wq), self.heads)
        k = torch.cat([past_k, self.split(F.linear(x, self.wk), self.kv_heads)], dim=-2)
        v = torch.cat([past_v, self.split(F.linear(x, self.wv), self.kv_heads)], dim=-2)
        logits = torch.matmul(q, self.expand(k).mT) / math.sqrt(self.head_dim)
        logits = logits + self.mask(past_k.shape[-2], x.shape[1], logits)
        probs = F.softmax(logits, dim=-1)
        y = torch.matmul(probs, self.expand(v)).transpose(1, 2).flatten(-2)
        return F.linear(y, self.wo), k, v


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    return Layer((w_q, w_k, w_v, w_o), n_heads, n_kv_heads)(x, k_cache, v_cache)
