import torch


def softmax(x, dim=-1):
    out = x.to(torch.float64)
    hi = out.max(0).values
    hi = torch.where(hi == float("-inf"), torch.zeros_like(hi), hi)
    out = torch.exp(out - hi)
    denom = out.sum(0)
    out = torch.where(denom > 0, out / denom, torch.zeros_like(out))
    return out.to(x.dtype)
