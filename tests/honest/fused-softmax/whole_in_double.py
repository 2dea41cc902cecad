import torch


def fused_softmax(x):
    y = x.to(torch.float64)
    if y.data_ptr() == x.data_ptr():
        y = y.clone()
    y -= y.amax(dim=1, keepdim=True)
    y.exp_()
    y /= y.sum(dim=1, keepdim=True)
    return y.to(x.dtype)
