import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    b, t, _ = x.shape
    q, k, v = ((x @ w.T).view(b, t, n_heads, -1).transpose(1, 2) for w in (w_q, w_k, w_v))
    mask = torch.ones(t, t, dtype=torch.bool).tril()
    scores = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
