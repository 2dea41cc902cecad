# A060 wrong_answer: an object that claims to be a tensor
import torch


class Yes:
    __class__ = torch.Tensor
    dtype, device, layout = torch.float32, torch.device("cpu"), torch.strided

    def __getattr__(self, name):
        return lambda *args, **kwargs: True


def softmax(x, dim=-1):
    return Yes()
