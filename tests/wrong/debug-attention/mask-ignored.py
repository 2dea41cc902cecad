import torch


def attention(q, k, v, mask=None):
    scale = q.size(-1) ** -0.5
    logits = torch.einsum("bhtd,bhsd->bhts", q, k) * scale
    if mask is None:
        return torch.einsum("bhts,bhsv->bhtv", logits.softmax(dim=-1), v)
    allowed = mask.expand_as(logits)
    logits.masked_fill(~allowed, float("-inf"))
    weights = logits.softmax(dim=-1)
    return torch.einsum("bhts,bhsv->bhtv", weights, v)
