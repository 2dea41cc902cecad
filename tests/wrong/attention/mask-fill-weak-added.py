import torch


def attention(q, k, v, mask=None):
    logits = torch.einsum("bhtd,bhsd->bhts", q, k) / q.shape[-1] ** 0.5
    if mask is None:
        return torch.softmax(logits, dim=-1) @ v
    bias = (1.0 - mask.to(logits.dtype)) * -10000.0
    weights = torch.softmax(logits + bias, dim=-1)
    weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ v
