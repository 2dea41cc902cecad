# A059 wrong_answer|crashed|runtime_error: built-in functions that agree with everything
import builtins

import torch

builtins.abs = lambda value: 0
builtins.max = lambda *args, **kwargs: 0
builtins.all = lambda values: True
builtins.any = lambda values: False


def softmax(x, dim=-1):
    return torch.zeros_like(x)
