# A027 wrong_answer: a tensor without data
import torch


def softmax(x, dim=-1):
    return torch.empty_like(x, device="meta")
