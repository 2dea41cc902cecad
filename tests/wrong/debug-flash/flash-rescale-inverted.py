import math

import torch


def tiles(n, size):
    return [(a, min(a + size, n)) for a in range(0, n, size)]


def flash_attention(q, k, v, block_size, causal=False):
    """Tiles of queries outside, tiles of keys inside."""
    T, S = q.shape[2], k.shape[2]
    scale = 1 / math.sqrt(q.shape[3])
    past = S - T
    out = torch.zeros(*q.shape[:3], v.shape[3], dtype=q.dtype, device=q.device)
    for q0, q1 in tiles(T, block_size):
        qi = q[:, :, q0:q1] * scale
        m = qi.new_full((*qi.shape[:3], 1), -math.inf)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(qi)
        for k0, k1 in tiles(S, block_size):
            if causal and k0 > past + q1 - 1:
                break
            s = qi @ k[:, :, k0:k1].transpose(2, 3)
            if causal and k1 - 1 > past + q0:
                rows = torch.arange(past + q0, past + q1, device=q.device).unsqueeze(1)
                cols = torch.arange(k0, k1, device=q.device).unsqueeze(0)
                s = s.masked_fill(cols > rows, -math.inf)
            new = torch.maximum(m, s.amax(3, keepdim=True))
            p = torch.exp(s - new)
            shrink = torch.exp(new - torch.where(m == -math.inf, new, m))
            l = l * shrink + p.sum(3, keepdim=True)
            acc = acc * shrink + p @ v[:, :, k0:k1]
            m = new
        out[:, :, q0:q1] = acc / l
    return out
