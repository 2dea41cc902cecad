import math

import torch
from torch import nn


class ScaledDotProduct(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("scale", torch.tensor(1 / math.sqrt(width), dtype=torch.float64))
        self.normalise = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask):
        scores = torch.bmm(q.flatten(0, 1), k.flatten(0, 1).permute(0, 2, 1))
        scores = scores.unflatten(0, q.shape[:2]) * self.scale.to(q.dtype)
        if mask is not None:
            mask = mask.expand_as(scores)
            scores = scores.masked_fill(~mask, -math.inf)
            scores = scores.masked_fill(~mask.any(-1, True), 0.0)
        weights = self.normalise(scores)
        if mask is not None:
            weights = weights * mask.any(-1, True)
        return torch.bmm(weights.flatten(0, 1), v.flatten(0, 1)).unflatten(0, q.shape[:2])


def attention(q, k, v, mask=None):
    return ScaledDotProduct(q.shape[-1])(q, k, v, mask)
