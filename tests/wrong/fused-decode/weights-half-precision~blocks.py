import math

import torch

BLOCK = 32


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    H_kv, S = k_cache.shape[1], k_cache.shape[2]
    acc_dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    rows = q.reshape(B, H_kv, H // H_kv, D).to(acc_dtype) / math.sqrt(D)
    m = torch.full((*rows.shape[:3], 1), -math.inf, dtype=acc_dtype, device=q.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(rows)
    limit = lengths.view(B, 1, 1, 1)
    for start in range(0, int(lengths.max()), BLOCK):
        kb = k_cache[:, :, start : start + BLOCK].to(acc_dtype)
        vb = v_cache[:, :, start : start + BLOCK].to(acc_dtype)
        s = rows @ kb.transpose(2, 3)
        slots = torch.arange(start, start + kb.shape[2], device=q.device)
        s = s.masked_fill(slots >= limit, -math.inf)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        alpha = torch.exp(m - m_new)
        l = l * alpha + p.sum(-1, keepdim=True)
        o = o * alpha + p.to(torch.bfloat16).to(acc_dtype) @ vb
        m = m_new
    return (o / l).reshape(B, H, 1, D).to(q.dtype)
