import torch


def attention(q, k, v, mask=None):
    scale = q.shape[-1] ** -0.5
    att = (q * scale) @ k.transpose(-2, -1)
    if mask is not None:
        att = att.masked_fill(~mask, float("-inf"))
    att = torch.softmax(att, dim=-2)
    if mask is not None:
        att = torch.where(mask, att, torch.zeros_like(att))
    return att @ v
