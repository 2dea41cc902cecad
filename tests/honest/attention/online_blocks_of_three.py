import torch


def attention(q, k, v, mask=None):
    d, width = q.size(-1), 3
    n_keys = k.size(-2)
    if mask is not None:
        mask = mask.expand(q.shape[0], q.shape[1], q.shape[2], n_keys)
    qf, kf, vf = q.float(), k.float(), v.float()
    m = torch.full(q.shape[:-1], float("-inf"))
    l = torch.zeros(q.shape[:-1])
    acc = torch.zeros(*q.shape[:-1], v.size(-1))
    for start in range(0, n_keys, width):
        stop = min(start + width, n_keys)
        s = qf @ kf[:, :, start:stop].transpose(-1, -2) / d**0.5
        if mask is not None:
            s = s.masked_fill(~mask[..., start:stop], float("-inf"))
        m_next = torch.maximum(m, s.max(dim=-1).values.detach())
        safe = m_next.masked_fill(m_next.isinf(), 0.0)
        p = torch.exp(s - safe[..., None])
        shrink = torch.exp(m - safe)
        l = l * shrink + p.sum(-1)
        acc = acc * shrink[..., None] + p @ vf[:, :, start:stop]
        m = m_next
    out = acc / l.masked_fill(l == 0, 1.0)[..., None]
    return out.to(q.dtype)
