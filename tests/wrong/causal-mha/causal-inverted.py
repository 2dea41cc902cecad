import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v))
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
    scores = (q * D**-0.5) @ k.mT
    scores = scores.masked_fill(causal, -torch.inf)
    return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2) @ w_o.T
