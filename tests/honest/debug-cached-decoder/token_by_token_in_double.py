import math

import torch


def turn(vec, p):
    half = vec.shape[-1] // 2
    t = p * 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    t = t.to(vec.device)
    a, b = vec[..., :half], vec[..., half:]
    return torch.cat((a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()), -1)


def decode_in_chunks(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, prefill, chunk):
    """Neither prefill nor chunk matters for the result: a token at a time."""
    L, B, T = w_q.shape[0], x.shape[0], x.shape[1]
    X, Q, K, V, O = (t.double() for t in (x, w_q, w_k, w_v, w_o))
    D = w_q.shape[1] // n_heads
    keys = [[] for _ in range(L)]
    values = [[] for _ in range(L)]
    out = torch.empty_like(x)
    for t in range(T):
        h = X[:, t]
        for n in range(L):
            q = turn((h @ Q[n].T).view(B, n_heads, D), t)
            keys[n].append(turn((h @ K[n].T).view(B, n_kv_heads, D), t))
            values[n].append((h @ V[n].T).view(B, n_kv_heads, D))
            k, v = torch.stack(keys[n], 2), torch.stack(values[n], 2)
            mixed = []
            for head in range(n_heads):
                g = head * n_kv_heads // n_heads
                w = torch.softmax((k[:, g] @ q[:, head, :, None]) / math.sqrt(D), 1)
                mixed.append((w * v[:, g]).sum(1))
            h = h + torch.cat(mixed, -1) @ O[n].T
        out[:, t] = h.to(x.dtype)
    return out
