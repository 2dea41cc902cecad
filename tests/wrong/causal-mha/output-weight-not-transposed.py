import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    y = torch.zeros_like(x)
    for h in range(n_heads):
        cut = slice(h * D, (h + 1) * D)
        q, k, v = x @ w_q[cut].T, x @ w_k[cut].T, x @ w_v[cut].T
        s = q @ k.mT / D**0.5
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        y = y + torch.softmax(s, -1) @ v @ w_o[cut]
    return y
