import torch


def softmax(x, dim=-1):
    y = x.float().movedim(dim, -1)
    finite = torch.isfinite(y)
    size = torch.where(finite, y.abs(), 0.0).amax(-1, keepdim=True)
    e = (y - size).exp()
    p = e / e.sum(-1, keepdim=True)
    p = torch.where(finite.any(-1, keepdim=True), p, 0.0)
    return p.movedim(-1, dim).to(x.dtype)
