import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    y = x.float()
    q, k, v = [
        (y @ w.float().T).unflatten(2, (n_heads, D)).movedim(2, 1) for w in (w_q, w_k, w_v)
    ]
    s = torch.matmul(q, k.mT) / D**0.5
    s = s + torch.full((T, T), -torch.inf).triu(1).to(s)
    p = torch.softmax(s.flatten(2), dim=-1).view_as(s)
    return ((p @ v).movedim(1, 2).flatten(2) @ w_o.float().T).to(x.dtype)
