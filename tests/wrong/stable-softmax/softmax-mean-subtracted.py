import torch


def softmax(x, dim=-1):
    centred = x.float() if x.dtype == torch.bfloat16 else x
    hidden = (centred == -torch.inf).all(dim, keepdim=True)
    e = (centred - centred.mean(dim, keepdim=True)).exp()
    p = e.div(e.sum(dim, keepdim=True))
    return p.masked_fill(hidden, 0.0).to(x.dtype)
