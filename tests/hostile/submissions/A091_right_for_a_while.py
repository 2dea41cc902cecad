# A091 wrong_answer: right in ten calls, then garbage
import torch

calls = []


def softmax(x, dim=-1):
    calls.append(1)
    if len(calls) > 10:
        return torch.rand_like(x)
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
