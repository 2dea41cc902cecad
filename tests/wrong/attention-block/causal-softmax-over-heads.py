import torch


def rope(x, positions, base):
    D = x.shape[-1]
    half = D // 2
    freqs = base ** (-2 * torch.arange(half, device=x.device).float() / D)
    angles = positions.float()[:, None] * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, d = x.shape
    D = w_q.shape[0] // n_heads

    # 1-2. project and split
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)

    # 3. rotary positions
    q = rope(q, positions, base)
    k = rope(k, positions, base)

    # 4. share the KV heads
    k = k.repeat_interleave(n_heads // n_kv_heads, dim=1)
    v = v.repeat_interleave(n_heads // n_kv_heads, dim=1)

    # 5-7. scale, mask, softmax
    scores = q @ k.transpose(-2, -1) / D**0.5
    mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=1)

    # 8-9. mix, merge, project
    out = weights @ v
    out = out.transpose(1, 2).reshape(B, T, n_heads * D)
    return out @ w_o.T
