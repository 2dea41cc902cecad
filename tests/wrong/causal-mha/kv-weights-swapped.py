import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, v, k = ((x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v))
    bias = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(diagonal=1)
    weights = (q @ k.mT / D**0.5 + bias).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, d) @ w_o.T
