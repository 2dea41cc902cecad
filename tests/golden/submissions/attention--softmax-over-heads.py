import torch


def attention(q, k, v, mask=None):
    D = q.shape[-1]
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * (1 / D**0.5)
    if mask is None:
        return scores.softmax(1) @ v
    blocked = ~mask
    scores = scores.masked_fill(blocked, -torch.inf)
    return scores.softmax(1).masked_fill(blocked, 0) @ v
