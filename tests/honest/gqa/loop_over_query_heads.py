import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    T = x.shape[1]
    D = w_q.shape[0] // n_heads
    out = torch.zeros(x.shape[0], T, w_o.shape[0], dtype=x.dtype)
    bias = torch.zeros(T, T, dtype=x.dtype).masked_fill(
        torch.ones(T, T).triu(1).bool(), -torch.inf
    )
    for h in range(n_heads):
        g = h // (n_heads // n_kv_heads)
        q = x @ w_q[h * D : (h + 1) * D].T
        k = x @ w_k[g * D : (g + 1) * D].T
        v = x @ w_v[g * D : (g + 1) * D].T
        p = torch.softmax(q @ k.transpose(1, 2) / D**0.5 + bias, dim=-1)
        out = out + (p @ v) @ w_o[:, h * D : (h + 1) * D].T
    return out
