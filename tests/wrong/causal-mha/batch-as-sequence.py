import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    length, batch, width = x.shape
    D = width // n_heads
    q, k, v = (
        (x @ w.T).view(length, batch, n_heads, D).permute(1, 2, 0, 3) for w in (w_q, w_k, w_v)
    )
    future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
    s = (q @ k.mT / D**0.5).masked_fill(future, -torch.inf)
    y = (s.softmax(-1) @ v).permute(2, 0, 1, 3).reshape(length, batch, width)
    return y @ w_o.T
