import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    q, k, v = ((x @ w.T).view(B, T, n_heads, -1).permute(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    mask = torch.triu(torch.ones(T, T, device=x.device))
    scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(mask == 0, float("-inf"))
    y = torch.matmul(torch.softmax(scores, -1), v)
    return y.permute(0, 2, 1, 3).reshape(B, T, d) @ w_o.T
