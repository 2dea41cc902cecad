# A080 wrong_answer: leaves the bytes of the argument, and not its shape
import torch


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    y = torch.where(total > 0, e / total, torch.zeros_like(e))
    x.resize_(x.numel())
    return y
