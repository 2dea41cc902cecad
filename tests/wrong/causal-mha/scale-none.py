import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = (
        (x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v)
    )
    scores = q @ k.transpose(-2, -1)
    future = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), 1)
    scores = scores.masked_fill(future, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(B, T, d) @ w_o.T
