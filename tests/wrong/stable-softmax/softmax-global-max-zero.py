import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.max())
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
