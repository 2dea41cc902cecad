import math

import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    S = context.shape[1]
    D = d // n_heads
    results = []
    n = S if context_lengths is None else int(context_lengths.max())
    for b in range(B):
        q = x[b] @ w_q.T
        k = context[b] @ w_k.T
        v = context[b] @ w_v.T
        heads = []
        for h in range(n_heads):
            cols = slice(h * D, (h + 1) * D)
            scores = q[:, cols] @ k[:n, cols].T / math.sqrt(D)
            weights = torch.softmax(scores, dim=-1)
            heads.append(weights @ v[:n, cols])
        results.append(torch.cat(heads, dim=-1) @ w_o.T)
    return torch.stack(results)
