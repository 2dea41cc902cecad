import torch


def attention(q, k, v, mask=None):
    scores = (q @ k.swapaxes(-1, -2)) / (q.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.where(mask, torch.tensor(float("-inf"), dtype=scores.dtype))
    weights = scores.softmax(dim=-1, dtype=torch.float32)
    weights = torch.nan_to_num(weights, nan=0.0)
    return (weights @ v.float()).type_as(q)
