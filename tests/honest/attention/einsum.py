import torch


def attention(q, k, v, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    if mask is None:
        return torch.einsum("bhts,bhsv->bhtv", scores.softmax(-1), v)
    mask = mask.expand(scores.shape)
    scores = scores.masked_fill(~mask, float("-inf"))
    sees = mask.any(-1, keepdim=True)
    weights = torch.where(sees, scores, torch.zeros_like(scores)).softmax(-1)
    weights = torch.where(sees & mask, weights, torch.zeros_like(weights))
    return torch.einsum("bhts,bhsv->bhtv", weights, v)
