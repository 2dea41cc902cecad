import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T = x.shape[0], x.shape[1]
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    total = torch.zeros_like(x)
    for h in range(n_heads):
        a, g = slice(h * D, (h + 1) * D), slice(h // rep * D, (h // rep + 1) * D)
        q, k, v = x @ w_q[a].T, x @ w_k[g].T, x @ w_v[g].T
        s = torch.baddbmm(x.new_zeros(B, T, T), q, k.mT, alpha=n_heads**-0.5)
        s = s.masked_fill(torch.ones_like(s).triu(1) > 0, -torch.inf)
        total = total + s.softmax(-1) @ v @ w_o[:, a].T
    return total
