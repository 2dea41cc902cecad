import torch


def latent_decode(q, latent, w_uk, w_uv, block=3):
    B, H, _, D = q.shape
    R = latent.shape[-1]
    calc = torch.promote_types(q.dtype, torch.float32)
    qc = torch.matmul(q.to(calc), w_uk.to(calc).reshape(H, D, R))[:, :, 0] / D**0.5  # (B, H, R)
    m = torch.full((B, H, 1), -torch.inf, dtype=calc, device=q.device)
    l = torch.zeros_like(m)
    acc = torch.zeros(B, H, R, dtype=calc, device=q.device)
    for c in latent.split(block, dim=1):
        c = c.to(calc)
        s = qc @ c.mT
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        fix = torch.exp(m - m_new)
        p = torch.exp(s - m_new)
        l.mul_(fix).add_(p.sum(-1, keepdim=True))
        acc.mul_(fix).add_(p @ c)
        m = m_new
    o = (acc / l).unsqueeze(-2)
    return torch.matmul(o, w_uv.to(calc).reshape(H, -1, R).mT).to(q.dtype)
