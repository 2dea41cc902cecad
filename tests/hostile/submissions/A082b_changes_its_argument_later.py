# A082 wrong_answer|passed: a thread writes into the argument when the call is over
import threading
import time

import torch


def later(x):
    time.sleep(0.002)
    x.fill_(7)


def softmax(x, dim=-1):
    threading.Thread(target=later, args=(x,), daemon=True).start()
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
