# A025 runtime_error|wrong_answer: a view past the end of its memory
import torch


def softmax(x, dim=-1):
    return torch.zeros(1, dtype=x.dtype).as_strided(x.shape, [1 << 40] * x.dim(), 1 << 50)
