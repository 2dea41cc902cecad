import math

import torch


def rotate_half(x, positions):
    half = x.shape[-1] // 2
    speeds = torch.tensor([10000.0 ** (-i / half) for i in range(half)], dtype=torch.float64)
    angles = positions.double()[:, None] * speeds.to(x.device)
    angles = angles.to(torch.bfloat16).double()
    c, s = torch.cos(angles), torch.sin(angles)
    a, b = x[..., :half].double(), x[..., half:].double()
    return torch.cat([a * c - b * s, b * c + a * s], dim=-1).to(x.dtype)


def step(h, layer, k_buffer, v_buffer, past, n_heads):
    """One layer over the new tokens h (B, n, d); the buffers are (B, H_kv, T, D)."""
    w_q, w_k, w_v, w_o = layer
    b, n, _ = h.shape
    n_kv, width = k_buffer.shape[1], k_buffer.shape[3]
    here = torch.arange(past, past + n, device=h.device)

    q = (h @ w_q.T).reshape(b, n, n_heads, width).permute(0, 2, 1, 3)
    k = (h @ w_k.T).reshape(b, n, n_kv, width).permute(0, 2, 1, 3)
    v = (h @ w_v.T).reshape(b, n, n_kv, width).permute(0, 2, 1, 3)
    q, k = rotate_half(q, here), rotate_half(k, here)
    k_buffer[:, :, past : past + n] = k
    v_buffer[:, :, past : past + n] = v
    k, v = k_buffer[:, :, : past + n], v_buffer[:, :, : past + n]

    heads = []
    seen = torch.arange(past + n, device=h.device) <= here[:, None]
    for j in range(n_heads):
        g = j // (n_heads // n_kv)
        scores = q[:, j] @ k[:, g].mT / math.sqrt(width)
        scores = torch.where(seen, scores, -torch.inf)
        heads.append(scores.softmax(dim=-1) @ v[:, g])
    return h + torch.cat(heads, dim=-1) @ w_o.T


def decode_in_chunks(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, prefill, chunk):
    n_layers, total = w_q.shape[0], x.shape[1]
    width = w_q.shape[1] // n_heads
    k_buffers = x.new_zeros(n_layers, x.shape[0], n_kv_heads, total, width)
    v_buffers = x.new_zeros(n_layers, x.shape[0], n_kv_heads, total, width)
    out = torch.empty_like(x)
    start, end = 0, prefill
    while start < total:
        h = x[:, start:end]
        for i in range(n_layers):
            layer = (w_q[i], w_k[i], w_v[i], w_o[i])
            h = step(h, layer, k_buffers[i], v_buffers[i], start, n_heads)
        out[:, start:end] = h
        start, end = end, min(end + chunk, total)
    return out
