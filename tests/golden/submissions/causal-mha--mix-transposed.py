import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v))
    s = torch.einsum("bhid,bhjd->bhij", q, k) * D**-0.5
    s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
    out = torch.einsum("bhij,bhid->bhjd", s.softmax(-1), v)
    return out.transpose(1, 2).flatten(2) @ w_o.T
