import math

import torch

TILE = 16
LOG2E = 1.4426950408889634


def fused_attention(q, k, v, causal):
    """Heads of a group lie below each other, so that a product serves all of them."""
    B, H, T, D = q.shape
    H_kv, S = k.shape[1], k.shape[2]
    g = H // H_kv
    work = torch.float64 if q.dtype is torch.float64 else torch.float32
    K = k.reshape(B * H_kv, S, D)
    V = v.reshape(B * H_kv, S, D)
    Q = q.reshape(B * H_kv, g, T, D)
    out = torch.empty_like(Q)
    step = max(1, TILE // g)
    for t0 in range(0, T, step):
        t1 = min(T, t0 + step)
        rows = Q[:, :, t0:t1].reshape(B * H_kv, g * (t1 - t0), D).to(work)
        m = rows.new_full((B * H_kv, rows.shape[1], 1), -math.inf)
        l = rows.new_zeros(m.shape)
        acc = torch.zeros_like(rows)
        end = S - T + t1 if causal else S
        where = torch.arange(S - T + t0, S - T + t1, device=q.device).repeat(g).unsqueeze(1)
        for s0 in range(0, end, TILE):
            s1 = min(end, s0 + TILE)
            bias = rows.new_zeros(1, 1, 1)
            if causal and s1 - 1 > S - T + t0:
                hidden = torch.arange(s0, s1, device=q.device) > where
                bias = rows.new_zeros(hidden.shape).masked_fill_(hidden, -math.inf)[None]
            bias = bias.expand(B * H_kv, rows.shape[1], s1 - s0)
            scores = torch.baddbmm(
                bias, rows, K[:, s0:s1].to(work).mT, beta=1, alpha=LOG2E / math.sqrt(D)
            )
            grown = torch.maximum(m, scores.amax(2, keepdim=True))
            p = torch.exp2(scores.sub_(grown))
            fade = torch.exp2(m - grown)
            l.mul_(fade).add_(p.sum(2, keepdim=True))
            acc.baddbmm_(p, V[:, s0:s1].to(work))
            m = grown
        out[:, :, t0:t1] = acc.div_(l).view(B * H_kv, g, t1 - t0, D).to(q.dtype)
    return out.view(B, H, T, D)
