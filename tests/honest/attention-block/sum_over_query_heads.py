import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    """No head axis at all: each head adds its own part of the output."""
    D = w_q.size(0) // n_heads
    T = x.size(1)
    freq = torch.tensor([1 / base ** (2 * i / D) for i in range(D // 2)], dtype=torch.float64)
    angle = positions.double().unsqueeze(1) * freq
    cos, sin = angle.cos().repeat(1, 2).to(x.dtype), angle.sin().repeat(1, 2).to(x.dtype)

    def head(w, h):
        return x @ w[h * D : (h + 1) * D].T  # (B, T, D)

    def turned(y):
        return y * cos + torch.cat((-y[..., D // 2 :], y[..., : D // 2]), -1) * sin

    future = torch.full((T, T), -torch.inf, dtype=x.dtype).triu(1)
    keys = [turned(head(w_k, n)) for n in range(n_kv_heads)]
    values = [head(w_v, n) for n in range(n_kv_heads)]
    out = 0
    for h in range(n_heads):
        n = h // (n_heads // n_kv_heads)
        scores = turned(head(w_q, h)) @ keys[n].transpose(1, 2) * D**-0.5 + future
        out = out + scores.softmax(2) @ values[n] @ w_o[:, h * D : (h + 1) * D].T
    return out
