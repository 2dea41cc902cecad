import torch


def attention(q, k, v, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return torch.einsum("bhts,bhsv->bhtv", weights, v)
