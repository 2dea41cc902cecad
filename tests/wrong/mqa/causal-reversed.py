import numpy as np
import torch


def mqa(q, k, v):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    T, S = q.shape[-2], k.shape[-2]
    scores = torch.einsum("bhtd,bosd->bhts", q, k) / np.sqrt(q.shape[-1])
    keep = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T)
    scores = scores.masked_fill(~keep, -float("inf"))
    prob = torch.softmax(scores, dim=-1)
    return torch.einsum("bhts,bosd->bhtd", prob, v).to(dtype)
