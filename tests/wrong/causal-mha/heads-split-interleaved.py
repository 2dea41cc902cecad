import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = (
        (x @ w.T).view(B, T, D, n_heads).permute(0, 3, 1, 2) for w in (w_q, w_k, w_v)
    )
    future = torch.ones(T, T, device=x.device).triu(1).bool()
    s = (q @ k.transpose(2, 3) / D**0.5).masked_fill(future, -torch.inf)
    out = s.softmax(-1) @ v
    return out.transpose(1, 2).reshape(B, T, d) @ w_o.T
