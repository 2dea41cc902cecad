import math

import torch


def turned(vector, position, base):
    half = vector.shape[-1] // 2
    out = vector.clone()
    for i in range(half):
        t = position * base ** (-i / half)
        a, b = vector[..., i], vector[..., i + half]
        out[..., i] = a * math.cos(t) - b * math.sin(t)
        out[..., i + half] = a * math.sin(t) + b * math.cos(t)
    return out


def latent_rope_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions, base=10000.0):
    X, Wq, Wd, Wk, Wv, Wo = (t.double() for t in (x, w_q, w_dkv, w_uk, w_uv, w_o))
    B, T, _ = X.shape
    R, D, Dv = Wk.shape[1], Wk.shape[0] // n_heads, Wv.shape[0] // n_heads
    Dr = Wd.shape[0] - R
    rows = []
    cache = torch.zeros(B, 0, R + Dr, dtype=torch.float64, device=x.device)
    for t in range(T):
        p = int(positions[t])
        down = X[:, t] @ Wd.T
        entry = torch.cat((down[:, :R], turned(down[:, R:], p, base)), -1)
        cache = torch.cat((cache, entry[:, None]), 1)
        query = (X[:, t] @ Wq.T).view(B, n_heads, D + Dr)
        heads = []
        for h in range(n_heads):
            keys = cache[..., :R] @ Wk[h * D : (h + 1) * D].T
            values = cache[..., :R] @ Wv[h * Dv : (h + 1) * Dv].T
            content = (keys * query[:, h, None, :D]).sum(-1)
            rotary = (cache[..., R:] * turned(query[:, h, D:], p, base)[:, None]).sum(-1)
            w = ((content + rotary) / math.sqrt(D + Dr)).softmax(-1)
            heads.append((w[..., None] * values).sum(1))
        rows.append(torch.cat(heads, -1) @ Wo.T)
    return torch.stack(rows, 1).to(x.dtype), cache.to(x.dtype)
