import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = [(x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v)]
    hidden = torch.ones(T, T, device=x.device).triu().bool()
    s = (q @ k.mT / D**0.5).masked_fill(hidden, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
