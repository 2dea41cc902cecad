import torch


def softmax(x, dim=-1):
    nothing = (x == -float("inf")).all(dim, keepdim=True)
    clean = torch.where(torch.isinf(x), torch.zeros_like(x), x).float()
    e = (clean - clean.amax(dim, keepdim=True)).exp()
    p = e / e.sum(dim, keepdim=True)
    p = p.masked_fill(nothing, 0.0)
    return p.to(x.dtype)
