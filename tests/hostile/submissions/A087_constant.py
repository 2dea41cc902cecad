# A087 wrong_answer: one constant
import torch


def softmax(x, dim=-1):
    return torch.full_like(x, 1 / x.shape[dim])
