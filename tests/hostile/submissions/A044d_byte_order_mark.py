# A044 passed: begins with a byte order mark, as some editors write it
import torch


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
