import torch as t


def softmax(x, dim=-1):
    # work on an own float copy, in place
    y = x.to(t.float32, copy=True)
    y -= t.nan_to_num(y.max(dim=dim, keepdim=True)[0], neginf=0.0)
    y.exp_()
    s = y.sum(dim, keepdim=True)
    y /= s.clamp_min(1e-38)
    return y.type_as(x)
