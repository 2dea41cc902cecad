# A025 passed: right values in a strided view with holes
import torch


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    y = torch.where(total > 0, e / total, torch.zeros_like(e))
    room = torch.full((3 * x.numel() + 1,), 7.0, dtype=x.dtype)
    strides = [3 * stride for stride in y.contiguous().stride()]
    view = room.as_strided(y.shape, strides, 1)
    view.copy_(y)
    return view
