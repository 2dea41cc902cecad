import numpy as np
import torch


def mqa(q, k, v):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    scores = torch.einsum("bhtd,bosd->bhts", q, k) / np.sqrt(q.shape[-1])
    prob = torch.softmax(scores, dim=-1)
    return torch.einsum("bhts,bosd->bhtd", prob, v).to(dtype)
