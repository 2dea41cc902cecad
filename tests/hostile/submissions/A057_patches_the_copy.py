# A057 wrong_answer|crashed: what copies its answer out does nothing
import torch

torch.Tensor.copy_ = lambda self, *args, **kwargs: self
torch.Tensor.__setitem__ = lambda *args: None


def softmax(x, dim=-1):
    return torch.zeros_like(x)
