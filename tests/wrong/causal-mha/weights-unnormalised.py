import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q = torch.einsum("btd,hed->bhte", x, w_q.view(n_heads, D, d)) * D**-0.5
    k = torch.einsum("btd,hed->bhte", x, w_k.view(n_heads, D, d))
    v = torch.einsum("btd,hed->bhte", x, w_v.view(n_heads, D, d))
    s = torch.einsum("bhie,bhje->bhij", q, k)
    s = s.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, -torch.inf)
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return torch.einsum("bhij,bhje,ohe->bio", e, v, w_o.view(d, n_heads, D))
