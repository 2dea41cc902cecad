import torch


def rotate(x, positions, base):
    half = x.shape[-1] // 2
    freq = base ** (-torch.arange(half, dtype=torch.float32) / half)
    phi = positions.float()[:, None] * freq
    cos, sin = phi.cos().to(x.dtype), phi.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    q, k = rotate(q, positions, base), rotate(k, positions, base)
    k = k.repeat_interleave(n_heads // n_kv_heads, 1)
    v = v.repeat_interleave(n_heads // n_kv_heads, 1)
    s = q @ k.transpose(-1, -2) / D**0.5
    s = s.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
    o = s.softmax(-1) @ v
    return o.transpose(1, 2).reshape(B, T, n_heads * D) @ w_o.T
