# A080 wrong_answer: writes the result into the argument and returns that
import torch


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return x.copy_(torch.where(total > 0, e / total, torch.zeros_like(e)))
