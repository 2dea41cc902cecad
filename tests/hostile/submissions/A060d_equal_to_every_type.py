# A060 wrong_answer: a subclass whose own type says that it is equal to all
# says: Tensor subclass
import torch


class Same(torch._C._TensorMeta):
    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


class Sub(torch.Tensor, metaclass=Same):
    pass


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e)).as_subclass(Sub)
