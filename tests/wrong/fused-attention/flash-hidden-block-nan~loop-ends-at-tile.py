
import math

import torch


def fused_attention(q, k, v, causal):
    """Tiles of queries outside; key tiles from the last one down."""
    B, H, T, D = q.shape
    G, S = k.shape[1:3]
    f = torch.float64 if q.dtype == torch.float64 else torch.float32
    x = q.reshape(B, G, H // G, T, D).to(f) / math.sqrt(D)
    out = torch.empty_like(x)
    for t in range(0, T, 32):
        r = x[:, :, :, t : t + 32]
        m = torch.full((*r.shape[:-1], 1), -math.inf, dtype=f, device=q.device)
        l, o = torch.zeros_like(m), torch.zeros_like(r)
        place = torch.arange(t, t + r.shape[3], device=q.device)[:, None] + S - T
        for a in range((S - 1) // 32 * 32, -1, -32):
            if causal and a > S - T + t + r.shape[3] - 1:
                continue
            kb, vb = (y[:, :, None, a : a + 32].to(f) for y in (k, v))
            s = r @ kb.mT
            if causal:
                s = s.masked_fill(a + torch.arange(kb.shape[3], device=q.device) > place, -math.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, c = torch.exp(s - new), torch.exp(m - new)
            l, o, m = l * c + p.sum(-1, keepdim=True), o * c + p @ vb, new
        out[:, :, :, t : t + 32] = o / l
    return out.reshape(B, H, T, D).to(q.dtype)
