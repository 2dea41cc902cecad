# A119 wrong_answer: one number for all
import torch


def softmax(x, dim=-1):
    return torch.zeros((), dtype=x.dtype)
