import torch


def fused_attention(q, k, v, causal):
    """Key tiles from the end to the start, so the first ones may be hidden: guard the maximum."""
    B, H, T, D = q.shape
    Hk, S = k.shape[1], k.shape[2]
    f = torch.promote_types(q.dtype, torch.float32)
    head_of = torch.arange(H, device=q.device) // (H // Hk)
    block = 128
    out = torch.zeros_like(q)
    for b in range(B):
        qb = q[b].to(f) / (D**0.5)
        o = torch.zeros(H, T, D, dtype=f, device=q.device)
        m = torch.full((H, T), -torch.inf, dtype=f, device=q.device)
        l = torch.zeros(H, T, dtype=f, device=q.device)
        j = S
        while j > 0:
            lo = max(0, j - block)
            kb = k[b, :, lo:j].to(f)[head_of]  # a tile of 40 keys for each head
            vb = v[b, :, lo:j].to(f)[head_of]
            s = qb.bmm(kb.transpose(1, 2))
            if causal:
                pos = torch.arange(T, device=q.device) + (S - T)
                s[:, pos[:, None] < torch.arange(lo, j, device=q.device)[None]] = -torch.inf
            m2 = torch.maximum(m, s.max(-1).values)
            base = m2
            a = torch.exp(m - base)
            p = torch.exp(s - base[..., None])
            l = a * l + p.sum(-1)
            o = a[..., None] * o + p.bmm(vb)
            m = m2
            j = lo
        out[b] = o / l[..., None]
    return out
