# A064 wrong_answer: looks for the expected values in the frames above it
import sys

import torch


def softmax(x, dim=-1):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if type(value) is torch.Tensor and value.shape == x.shape and value is not x:
                return value.clone()
        frame = frame.f_back
    return torch.zeros_like(x)
