# A087 wrong_answer: memory as it is found
import torch


def softmax(x, dim=-1):
    return torch.empty_like(x)
