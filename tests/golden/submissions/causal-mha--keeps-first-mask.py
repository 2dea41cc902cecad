import torch

MASK = None


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    global MASK
    b, t, d = x.shape
    if MASK is None:
        MASK = torch.ones(t, t, dtype=torch.bool).tril()
    q, k, v = ((x @ w.T).view(b, t, n_heads, -1).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~MASK, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(b, t, d) @ w_o.T
