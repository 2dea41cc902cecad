# A025 wrong_answer: a view whose entries lie on one another
import torch


def softmax(x, dim=-1):
    return torch.zeros(x.numel(), dtype=x.dtype).as_strided(x.shape, [1] * x.dim())
