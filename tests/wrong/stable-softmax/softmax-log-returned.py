import torch


def softmax(x, dim=-1):
    y = x.float()
    hidden = torch.isneginf(y).all(dim=dim, keepdim=True)
    top = y.amax(dim=dim, keepdim=True).masked_fill(hidden, 0.0)
    shifted = y - top
    norm = torch.log(shifted.exp().sum(dim=dim, keepdim=True))
    result = torch.where(hidden, torch.zeros_like(y), shifted - norm)
    return result.to(x.dtype)
