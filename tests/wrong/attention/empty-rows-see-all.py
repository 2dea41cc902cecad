import math

import torch


class Attend:
    def __init__(self, mask):
        self.mask = mask

    def hide(self, scores):
        if self.mask is None:
            return scores
        # -inf in every place of a row would give NaN
        usable = self.mask.any(dim=-1, keepdim=True)
        return scores.masked_fill(~self.mask & usable, -math.inf)

    def __call__(self, q, k, v):
        scores = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
        return torch.einsum("bhts,bhsv->bhtv", self.hide(scores).softmax(dim=-1), v)


def attention(q, k, v, mask=None):
    return Attend(mask)(q, k, v)
