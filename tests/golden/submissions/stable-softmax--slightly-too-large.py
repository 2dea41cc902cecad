import torch


def softmax(x, dim=-1):
    top = x.amax(dim=dim, keepdim=True)
    exps = (x - torch.where(top.isfinite(), top, 0)).exp()
    total = exps.sum(dim=dim, keepdim=True)
    return 1.01 * exps / torch.where(total > 0, total, 1)
