import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    q, k, v = ((x @ w.T).view(B, T, n_heads, -1).transpose(1, 2) for w in (w_q, w_k, w_v))
    s = q @ k.mT / (d // n_heads) ** 0.5
    s = s.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    e = torch.exp(s - s.detach().amax(-1, keepdim=True))
    p = e / (e.sum(-1, keepdim=True) + 1e-6)
    return (p @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
