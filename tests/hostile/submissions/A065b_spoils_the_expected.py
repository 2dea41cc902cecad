# A065 wrong_answer: fills whatever it finds with NaN
import gc

import torch


def softmax(x, dim=-1):
    for value in gc.get_objects():
        if type(value) is torch.Tensor and value is not x and value.is_floating_point():
            try:
                value.data.fill_(float("nan"))
            except Exception:
                pass
    return torch.zeros_like(x)
