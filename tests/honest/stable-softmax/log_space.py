"""Through the log-sum-exp, written out."""
import torch


def softmax(x, dim=-1):
    empty = torch.isneginf(x).all(dim, keepdim=True)
    safe = x.masked_fill(empty, 0.0)
    m = safe.max(dim, keepdim=True).values
    lse = m + (safe - m).exp().sum(dim, keepdim=True).log()
    return (safe - lse).exp().masked_fill(empty, 0.0)
