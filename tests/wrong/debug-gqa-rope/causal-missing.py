import math

import torch


def turn(x, positions, base):
    """x: (T, D), float64."""
    T, D = x.shape
    pairs = torch.arange(D // 2, dtype=torch.float64, device=x.device)
    theta = torch.outer(positions.double(), torch.exp(-2 * pairs / D * math.log(base)))
    z = torch.complex(x[:, : D // 2], x[:, D // 2 :]) * torch.exp(1j * theta)
    return torch.cat([z.real, z.imag], dim=1)


def rope_gqa(q, k, v, positions, base=10000.0):
    n_batch, length, n_heads, width = q.shape
    group = n_heads // k.shape[2]
    out = torch.empty_like(q)
    for b in range(n_batch):
        for h in range(n_heads):
            shared = h // group
            query = turn(q[b, :, h].double(), positions, base)
            key = turn(k[b, :, shared].double(), positions, base)
            value = v[b, :, shared].double()
            scores = query @ key.T / math.sqrt(width)
            out[b, :, h] = (torch.softmax(scores, dim=1) @ value).to(q.dtype)
    return out
