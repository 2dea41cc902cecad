import torch


def softmax(x, dim=-1):
    top = x.amax(dim=dim, keepdim=True)
    x -= torch.where(top.isfinite(), top, 0)
    exps = x.exp()
    total = exps.sum(dim=dim, keepdim=True)
    return exps / torch.where(total > 0, total, 1)
