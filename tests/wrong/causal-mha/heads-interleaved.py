import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = (torch.einsum("btd,ed->bte", x, w).view(B, T, D, n_heads) for w in (w_q, w_k, w_v))
    s = torch.einsum("bidh,bjdh->bhij", q, k) / D**0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), -torch.inf)
    y = torch.einsum("bhij,bjdh->bidh", s.softmax(-1), v)
    return torch.einsum("btd,ed->bte", y.reshape(B, T, d), w_o)
