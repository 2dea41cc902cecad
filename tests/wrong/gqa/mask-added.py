import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    outs = []
    for h in range(n_heads):
        g = h // rep
        q = x @ w_q[h * D : (h + 1) * D].T
        k = x @ w_k[g * D : (g + 1) * D].T
        v = x @ w_v[g * D : (g + 1) * D].T
        outs.append(torch.softmax(q @ k.mT / D**0.5 + mask, dim=-1) @ v)
    return torch.cat(outs, dim=-1) @ w_o.T
