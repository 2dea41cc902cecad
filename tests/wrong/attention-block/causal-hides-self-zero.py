import torch


def apply_rope(x, positions, base):
    D = x.shape[-1]
    wide = x.float()
    parts_a, parts_b = [], []
    for i in range(D // 2):
        angle = positions.float() * base ** (-2 * i / D)
        c, s = angle.cos(), angle.sin()
        a, b = wide[..., i], wide[..., i + D // 2]
        parts_a.append(a * c - b * s)
        parts_b.append(a * s + b * c)
    return torch.stack(parts_a + parts_b, dim=-1).to(x.dtype)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    q = (x @ w_q.T).reshape(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).reshape(B, T, n_kv_heads, D).transpose(1, 2)
    v = (x @ w_v.T).reshape(B, T, n_kv_heads, D).transpose(1, 2)
    q = apply_rope(q, positions, base)
    k = apply_rope(k, positions, base)
    size = n_heads // n_kv_heads
    k = k.repeat_interleave(size, dim=1)
    v = v.repeat_interleave(size, dim=1)
    out = []
    for t in range(T):
        scores = torch.einsum("bhd,bhsd->bhs", q[:, :, t], k[:, :, :t]) / D**0.5
        weights = torch.softmax(scores, dim=-1)
        out.append(torch.einsum("bhs,bhsd->bhd", weights, v[:, :, :t]))
    y = torch.stack(out, dim=1)
    return y.reshape(B, T, n_heads * D) @ w_o.T
