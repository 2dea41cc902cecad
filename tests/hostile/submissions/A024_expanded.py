# A024 wrong_answer: a view of one number that would be terabytes when copied
import torch


def softmax(x, dim=-1):
    return torch.zeros(1, dtype=x.dtype).expand(10**6, 10**6)
