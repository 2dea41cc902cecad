import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.size(-2)
    outs = []
    allowed = None if mask is None else mask.broadcast_to(B, H, T, S)[0]
    for qb, kb, vb in zip(q, k, v):
        s = torch.bmm(qb, kb.transpose(1, 2)).mul(D**-0.5)
        if allowed is not None:
            s = s.masked_fill(~allowed, torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        if allowed is not None:
            w = w * allowed
        outs.append(w.bmm(vb))
    return torch.stack(outs)
