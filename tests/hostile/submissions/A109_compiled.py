# A109 forbidden@3: the operation within torch.compile
# says: rules out
import torch


@torch.compile(backend="eager")
def compiled(x, dim):
    return torch.softmax(x, dim)


def softmax(x, dim=-1):
    return compiled(x, dim)
