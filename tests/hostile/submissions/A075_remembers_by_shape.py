# A075 wrong_answer: results remembered by shape
import torch

kept = {}


def right(x, dim):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))


def softmax(x, dim=-1):
    key = (x.shape, x.dtype, dim)
    if key not in kept:
        kept[key] = right(x, dim)
    return kept[key].clone()
