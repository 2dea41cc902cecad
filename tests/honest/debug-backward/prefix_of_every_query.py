import math

import torch


def softmax_jacobian(p):
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)


def attention_backward(q, k, v, d_out):
    Q, K, V, G = (t.double() for t in (q, k, v, d_out))
    dq, dk, dv = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    root = math.sqrt(q.shape[-1])
    for t in range(q.shape[2]):
        keys, values = K[:, :, : t + 1], V[:, :, : t + 1]
        p = torch.softmax((keys @ Q[:, :, t, :, None])[..., 0] / root, -1)
        g = G[:, :, t]
        dv[:, :, : t + 1] += p[..., None] * g[:, :, None]
        dp = (values @ g[..., None])[..., 0]
        ds = (softmax_jacobian(p) @ dp[..., None])[..., 0] / root
        dq[:, :, t] = (ds[..., None] * keys).sum(2)
        dk[:, :, : t + 1] += ds[..., None] * Q[:, :, t, None]
    return tuple(t.to(q.dtype) for t in (dq, dk, dv))
