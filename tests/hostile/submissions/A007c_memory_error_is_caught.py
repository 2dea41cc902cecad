# A007 wrong_answer|memory_limit: survives its own memory error and returns nothing right
import torch

kept = []


def softmax(x, dim=-1):
    try:
        while True:
            kept.append(torch.empty(1 << 28))
    except RuntimeError:
        return torch.zeros_like(x)
