import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    q_, k_, v_ = q.to(wide) / D**0.5, k.to(wide), v.to(wide)
    m = q_.new_full((B, H, T, 1), -torch.inf)
    l, o = torch.zeros_like(m), torch.zeros_like(q_)
    for a in range(0, T, 3):
        kb, vb = k_[:, :, a : a + 3], v_[:, :, a : a + 3]
        at = torch.arange(a, a + kb.shape[2])
        s = q_ @ kb.mT + torch.where(at < lengths[:, None], 0.0, -torch.inf)[:, None, None]
        new = torch.maximum(m, s.amax(-1, keepdim=True).detach())
        base = torch.where(new.isneginf(), 0.0, new)
        p, fix = torch.exp(s - base), torch.exp(m - base)
        l, o, m = l * fix + p.sum(-1, keepdim=True), o * fix + p @ vb, new
    return torch.where(l > 0, o / torch.where(l > 0, l, 1.0), 0.0).to(q.dtype)
