# A051 wrong_answer: answers on the channel by itself
import os

import torch


def softmax(x, dim=-1):
    os.write(3, b"D")
    return torch.zeros_like(x)
