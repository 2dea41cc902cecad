import math

import torch


def turned(x, positions, base):
    """x: (T, D)."""
    half = x.shape[1] // 2
    out = torch.empty_like(x, dtype=torch.float64)
    where = positions.to(torch.float64)
    for i in range(half):
        angle = where * math.pow(base, -i / x.shape[1])
        c, s = angle.cos(), angle.sin()
        first, second = x[:, i].double(), x[:, i + half].double()
        out[:, i] = first * c - second * s
        out[:, i + half] = first * s + second * c
    return out


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    width = w_q.shape[0] // n_heads
    length = x.shape[1]
    future = torch.triu(torch.ones(length, length, dtype=torch.bool, device=x.device), diagonal=1)
    rows = []
    for tokens in x:
        queries, keys, values = tokens @ w_q.T, tokens @ w_k.T, tokens @ w_v.T
        merged = []
        for h in range(n_heads):
            g = h % n_kv_heads
            mine = slice(h * width, (h + 1) * width)
            theirs = slice(g * width, (g + 1) * width)
            q = turned(queries[:, mine], positions, base)
            k = turned(keys[:, theirs], positions, base)
            v = values[:, theirs].double()
            scores = q @ k.T / math.sqrt(width)
            scores[future] = float("-inf")
            merged.append(scores.softmax(dim=1) @ v)
        rows.append(torch.cat(merged, dim=1).to(x.dtype) @ w_o.T)
    return torch.stack(rows)
