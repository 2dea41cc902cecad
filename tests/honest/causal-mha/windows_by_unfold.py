import torch
import torch.nn.functional as F


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    """Keys are padded on the left; query t sees the window that ends at t."""
    B, T, d = x.shape
    D = d // n_heads

    def split(w):
        return (x @ w.T).reshape(B, T, n_heads, D).transpose(1, 2)

    q = split(w_q)
    k = F.pad(split(w_k), (0, 0, T - 1, 0)).unfold(2, T, 1)  # (B, H, T, D, T)
    v = F.pad(split(w_v), (0, 0, T - 1, 0)).unfold(2, T, 1)
    s = torch.einsum("bhtd,bhtdw->bhtw", q, k) / D**0.5
    real = F.pad(torch.ones(T), (T - 1, 0)).unfold(0, T, 1) > 0
    p = s.masked_fill(~real, -torch.inf).softmax(-1)
    return torch.einsum("bhtw,bhtdw->bthd", p, v).reshape(B, T, d) @ w_o.T
