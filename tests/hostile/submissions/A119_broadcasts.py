# A119 wrong_answer: a shape that only broadcasts to the right one
import torch


def softmax(x, dim=-1):
    return torch.zeros((1, *x.shape), dtype=x.dtype)
