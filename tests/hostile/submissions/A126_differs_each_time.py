# A126 wrong_answer: another answer in every call
import os

import torch


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    y = torch.where(total > 0, e / total, torch.zeros_like(e))
    return y if os.urandom(1)[0] < 200 else y.flip(dim)
