import torch


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    qf, kf, vf = q.float() / D**0.5, k.float(), v.float()
    o = torch.zeros_like(qf)
    l = qf.new_zeros(B, H, T, 1)
    m = qf.new_full((B, H, T, 1), -torch.inf)
    i = torch.arange(T, device=q.device)[:, None] + S - T
    for a in range(0, S, block_size):
        z = min(a + block_size, S)
        s = qf @ kf[:, :, a:z].mT  # (B, H, T, block)
        s = s.masked_fill(torch.arange(a, z, device=q.device) > i, -torch.inf)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        r = torch.exp(m - m_new)
        p = torch.exp(s - m_new)
        l = r * l + p.sum(-1, keepdim=True)
        o = r * o + p @ vf[:, :, a:z]
        m = m_new
    return (o / l).to(q.dtype)
