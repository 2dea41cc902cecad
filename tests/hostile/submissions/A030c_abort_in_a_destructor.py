# A030 crashed: abort() when the last name of a result goes
import os

import torch


class Trap:
    def __del__(self):
        os.abort()


def softmax(x, dim=-1):
    y = torch.zeros_like(x)
    y.trap = Trap()
    return y
