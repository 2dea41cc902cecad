# A117 wrong_answer: bfloat16 inside, the right type outside
import torch


def softmax(x, dim=-1):
    kind, x = x.dtype, x.to(torch.bfloat16)
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e)).to(kind)
