# A057 wrong_answer|crashed: right once, then leaves the buffer as it was
import torch

calls = []
copy = torch.Tensor.copy_


def once(self, *args, **kwargs):
    calls.append(1)
    return copy(self, *args, **kwargs) if len(calls) < 4 else self


torch.Tensor.copy_ = once


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
