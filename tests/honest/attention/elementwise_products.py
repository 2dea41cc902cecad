import torch as th


def attention(q, k, v, mask=None):
    """No matrix product at all."""
    d = q.size(3)
    q5, k5 = q.unsqueeze(3), k.unsqueeze(2)
    s = q5.mul(k5).sum(dim=4).div(d**0.5)
    if mask is None:
        p = s.sub(s.max(dim=3, keepdim=True)[0]).exp()
    else:
        sees = mask.expand_as(s)
        low = th.finfo(s.dtype).min
        top = s.masked_fill(sees.logical_not(), low).max(dim=3, keepdim=True)[0]
        p = s.sub(top).masked_fill(sees.logical_not(), low).exp().mul(sees.any(3, keepdim=True))
    p = p.div(p.sum(dim=3, keepdim=True).add(1e-6))
    return p.unsqueeze(4).mul(v.unsqueeze(2)).sum(dim=3)
