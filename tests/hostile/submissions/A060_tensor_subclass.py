# A060 wrong_answer: a tensor that answers every question with yes
import torch


class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


def softmax(x, dim=-1):
    return torch.zeros_like(x).as_subclass(Yes)
