import math

import torch


def rope_tables(positions, head_dim, base):
    half = head_dim // 2
    inv_freq = torch.tensor([base ** (-2 * i / head_dim) for i in range(half)], device=positions.device)
    angles = torch.outer(positions.float(), inv_freq)
    return torch.cos(angles), torch.sin(angles)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    T = x.shape[1]
    D = w_q.shape[0] // n_heads
    group = n_heads // n_kv_heads
    q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T
    cos, sin = rope_tables(positions, D, base)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    idx = torch.arange(T, device=x.device)
    allowed = idx[None, :] <= idx[:, None]

    heads = []
    for h in range(n_heads):
        kv = h // group
        q_h = q[:, :, h * D : (h + 1) * D]
        k_h = k[:, :, kv * D : (kv + 1) * D]
        v_h = v[:, :, kv * D : (kv + 1) * D]
        q_h = rotate(q_h, cos, sin)
        scores = torch.bmm(q_h, k_h.transpose(1, 2)) / math.sqrt(D)
        scores = scores.masked_fill(~allowed, float("-inf"))
        heads.append(torch.softmax(scores, dim=-1) @ v_h)
    return torch.cat(heads, dim=-1) @ w_o.T
