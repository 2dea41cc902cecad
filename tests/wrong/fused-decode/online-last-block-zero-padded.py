import math

import torch
from torch.nn.functional import pad


def fused_decode(q, k_cache, v_cache, lengths):
    """Sequence by sequence in blocks of 64; the last block is padded with zeros to its full size."""
    B, H, _, D = q.shape
    heads = k_cache.shape[1]
    wide = torch.promote_types(q.dtype, torch.float32)
    out = torch.empty_like(q)
    for b in range(B):
        n = int(lengths[b])
        query = q[b].to(wide).reshape(heads, H // heads, D) / math.sqrt(D)
        m = torch.full((heads, H // heads, 1), -torch.inf, dtype=wide)
        l = torch.zeros_like(m)
        o = torch.zeros_like(query)
        for start in range(0, n, 64):
            short = max(0, start + 64 - n)
            keys = pad(k_cache[b, :, start : min(start + 64, n)].to(wide), (0, 0, 0, short))
            values = pad(v_cache[b, :, start : min(start + 64, n)].to(wide), (0, 0, 0, short))
            s = query @ keys.mT
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, c = torch.exp(s - new), torch.exp(m - new)
            l, o, m = l * c + p.sum(-1, keepdim=True), o * c + p @ values, new
        out[b] = (o / l).reshape(H, 1, D).to(q.dtype)
    return out
