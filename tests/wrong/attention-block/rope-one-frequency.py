import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    dtype = x.dtype
    x, w_q, w_k, w_v, w_o = (t.double() for t in (x, w_q, w_k, w_v, w_o))
    B, T, _ = x.shape
    D = w_k.shape[0] // n_kv_heads
    n = D // 2

    angles = positions.double().view(T, 1).expand(T, n)
    cos, sin = torch.cos(angles), torch.sin(angles)

    def rot(t):
        a, b = t.split(n, dim=-1)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)

    q = torch.einsum("btc,oc->bto", x, w_q).reshape(B, T, n_heads, D).permute(0, 2, 1, 3)
    k = torch.einsum("btc,oc->bto", x, w_k).reshape(B, T, n_kv_heads, D).permute(0, 2, 1, 3)
    v = torch.einsum("btc,oc->bto", x, w_v).reshape(B, T, n_kv_heads, D).permute(0, 2, 1, 3)
    q = rot(q)
    k = rot(k)

    q = q.reshape(B, n_kv_heads, n_heads // n_kv_heads, T, D)
    k = k.unsqueeze(2)
    v = v.unsqueeze(2)
    logits = q @ k.transpose(-1, -2) / D**0.5
    logits = logits + torch.full((T, T), -torch.inf, dtype=torch.float64, device=x.device).triu(1)
    p = torch.softmax(logits, dim=-1)
    y = (p @ v).reshape(B, n_heads, T, D).transpose(1, 2).reshape(B, T, n_heads * D)
    return (y @ w_o.T).to(dtype)
