import torch


def spin(y, p, base):
    """y (..., D) at the integer position p."""
    D = y.shape[-1]
    inv = torch.tensor([base ** (-2.0 * i / D) for i in range(D // 2)], dtype=torch.float64)
    c, s = torch.cos(p * inv).to(y.dtype), torch.sin(p * inv).to(y.dtype)
    a, b = y.split(D // 2, dim=-1)
    return torch.cat((a * c - b * s, b * c + a * s), dim=-1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    owner = [h // (n_heads // n_kv_heads) for h in range(n_heads)]
    keys, values, outs = [], [], []
    for t in range(T):
        token = x[:, t]
        p = positions[t].item()
        q = spin((token @ w_q.T).view(B, n_heads, D), p, base)
        keys.append(spin((token @ w_k.T).view(B, n_kv_heads, D), p, base))
        values.append((token @ w_v.T).view(B, n_kv_heads, D))
        K = torch.stack(keys, 2)[:, owner]
        V = torch.stack(values, 2)[:, owner]
        w = ((K @ q.unsqueeze(-1)).squeeze(-1) / D**0.5).softmax(-1)
        outs.append((w.unsqueeze(2) @ V).reshape(B, n_heads * D) @ w_o.T)
    return torch.stack(outs, 1)
