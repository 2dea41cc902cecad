import torch


def fused_softmax(x):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    e = x.to(wide, copy=True)
    e.exp_()
    e.div_(e.sum(dim=1, keepdim=True))
    return e.to(x.dtype)
