# A087 wrong_answer: NaN throughout
import torch


def softmax(x, dim=-1):
    return torch.full_like(x, float("nan"))
