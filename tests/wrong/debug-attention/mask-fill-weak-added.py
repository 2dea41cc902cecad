import torch


def attention(q, k, v, mask=None):
    scale = q.size(-1) ** -0.5
    logits = torch.einsum("bhtd,bhsd->bhts", q, k) * scale
    if mask is None:
        return torch.einsum("bhts,bhsv->bhtv", logits.softmax(dim=-1), v)
    allowed = mask.expand_as(logits)
    logits = logits + (~allowed).to(logits.dtype) * -10000.0
    weights = logits.softmax(dim=-1)
    empty = ~allowed.any(dim=-1, keepdim=True)
    weights = weights.masked_fill(empty, 0.0)
    return torch.einsum("bhts,bhsv->bhtv", weights, v)
