# A082 wrong_answer: a thread puts the right values in when the call is over
import threading
import time

import torch


def later(x, y, dim):
    time.sleep(0.05)
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    y.copy_(torch.where(total > 0, e / total, torch.zeros_like(e)))


def softmax(x, dim=-1):
    y = torch.zeros_like(x)
    threading.Thread(target=later, args=(x.clone(), y, dim), daemon=True).start()
    return y
