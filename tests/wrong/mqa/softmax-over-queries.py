import numpy as np
import torch


def mqa(q, k, v):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    T, S = q.shape[-2], k.shape[-2]
    scores = torch.einsum("bhtd,bosd->bhts", q, k) / np.sqrt(q.shape[-1])
    keep = torch.from_numpy(np.tri(T, S, S - T, dtype=bool)).to(q.device)
    scores = scores.masked_fill(~keep, -float("inf"))
    prob = torch.softmax(scores, dim=-2)
    return torch.einsum("bhts,bosd->bhtd", prob, v).to(dtype)
