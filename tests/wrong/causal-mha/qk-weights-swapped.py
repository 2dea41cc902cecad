import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads

    def project(w):
        return torch.einsum("btd,ed->bte", x, w).view(B, T, n_heads, D)

    q, k, v = project(w_k), project(w_q), project(w_v)
    s = torch.einsum("bihd,bjhd->bhij", q, k) / D**0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), -torch.inf)
    y = torch.einsum("bhij,bjhd->bihd", torch.softmax(s, -1), v)
    return y.reshape(B, T, d) @ w_o.T
