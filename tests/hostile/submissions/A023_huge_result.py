# A023 wrong_answer: returns sixty megabytes where a few numbers are asked
import torch


def softmax(x, dim=-1):
    return torch.zeros(1 << 24, dtype=x.dtype)
