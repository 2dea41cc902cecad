# A127 wrong_answer: right values, and gradients that are twice too large
import torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


def attention(q, k, v, *args, **kwargs):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return Twice.apply(e / e.sum(-1, keepdim=True) @ v)
