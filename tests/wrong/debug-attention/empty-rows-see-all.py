import torch


def attention(q, k, v, mask=None):
    logits = torch.matmul(q, k.mT) * q.shape[-1] ** -0.5
    if mask is not None:
        full = mask.broadcast_to(logits.shape)
        row_has_key = full.any(dim=-1, keepdim=True)
        logits = torch.where(full | ~row_has_key, logits, float("-inf"))
    top = logits.amax(dim=-1, keepdim=True)
    weights = torch.exp(logits - top)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return torch.matmul(weights, v)
