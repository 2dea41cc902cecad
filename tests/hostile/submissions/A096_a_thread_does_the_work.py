# A096 wrong_answer: returns at once and lets a thread finish
import threading
import time

import torch


def work(x, y, dim):
    time.sleep(0.05)
    y.copy_(torch.exp(x - x.amax(dim, keepdim=True)))


def softmax(x, dim=-1):
    y = torch.empty_like(x).fill_(-1)
    threading.Thread(target=work, args=(x.clone(), y, dim), daemon=True).start()
    return y
