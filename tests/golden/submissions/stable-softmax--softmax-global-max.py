import torch


def softmax(x, dim=-1):
    dead = torch.isneginf(x).all(dim=dim, keepdim=True)
    work = x.float().clone()
    peak = work.max()
    if peak > float("-inf"):
        work -= peak
    work.exp_()
    work /= work.sum(dim, keepdim=True)
    return work.masked_fill(dead, 0.0).to(x.dtype)
