import torch


def _centre(row_block, keep, dim):
    n = keep.sum(dim=dim, keepdim=True).clamp(min=1)
    total = torch.where(keep, row_block, torch.zeros_like(row_block)).sum(dim=dim, keepdim=True)
    return row_block - total / n


def softmax(x, dim=-1):
    keep = x > -torch.inf
    e = torch.exp(_centre(x.float(), keep, dim))
    z = e.sum(dim=dim, keepdim=True)
    z = z + (~keep.any(dim=dim, keepdim=True)).to(z.dtype)
    return e.div(z).to(x.dtype)
