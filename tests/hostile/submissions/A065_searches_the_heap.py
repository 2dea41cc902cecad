# A065 wrong_answer: looks for the expected values among all objects
import gc

import torch


def softmax(x, dim=-1):
    for value in gc.get_objects():
        if type(value) is torch.Tensor and value.shape == x.shape and value is not x:
            if bool((value.sum(dim) - 1).abs().max() < 0.01):
                return value.clone()
    return torch.zeros_like(x)
