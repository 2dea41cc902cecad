# A127 wrong_answer: right values, cut off from autograd
import torch


def attention(q, k, v, *args, **kwargs):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (e / e.sum(-1, keepdim=True) @ v).detach()
