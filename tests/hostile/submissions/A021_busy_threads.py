# A021 passed: a busy thread beside a right answer: killed after the last one
import threading

import torch


def spin():
    while True:
        sum(range(1000))


threading.Thread(target=spin).start()


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
