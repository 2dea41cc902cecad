import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    """The weights themselves are split into heads."""
    d = x.shape[-1]
    D = d // n_heads
    Wq, Wk, Wv = (w.reshape(n_heads, D, d) for w in (w_q, w_k, w_v))
    q = torch.einsum("btm,hem->hbte", x, Wq)
    k = torch.einsum("btm,hem->hbte", x, Wk)
    v = torch.einsum("btm,hem->hbte", x, Wv)
    s = torch.einsum("hbte,hbse->hbts", q, k) * D**-0.5
    T = x.shape[1]
    s = s + torch.full((T, T), float("-inf"), dtype=s.dtype).triu(1)
    return torch.einsum("hbts,hbse,ohe->bto", s.softmax(-1), v, w_o.reshape(d, n_heads, D))
