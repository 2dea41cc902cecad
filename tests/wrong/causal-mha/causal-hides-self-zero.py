import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = [(x @ w.T).unflatten(-1, (n_heads, D)).transpose(1, 2) for w in (w_q, w_k, w_v)]
    seen = torch.ones(T, T, dtype=torch.bool, device=x.device).tril(-1)
    s = (q @ k.transpose(-1, -2) / D**0.5).masked_fill(~seen, torch.finfo(x.dtype).min)
    p = s.softmax(-1) * seen
    return (p @ v).transpose(1, 2).flatten(-2) @ w_o.T
