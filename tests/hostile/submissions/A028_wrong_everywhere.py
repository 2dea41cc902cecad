# A028 wrong_answer: wrong in every entry: the report stays short
import torch


def softmax(x, dim=-1):
    return torch.full_like(x, 7.25)
