import math

import torch


class Attention:
    """Scores, softmax and mixture as three small steps."""

    def __init__(self, width):
        self.norm = math.sqrt(width)

    def score(self, q, k, visible):
        s = torch.matmul(q, k.mT) / self.norm
        return torch.where(visible, s, -torch.inf)

    @staticmethod
    def normalise(s, visible):
        top = s.max(dim=0, keepdim=True).values
        top = torch.where(torch.isinf(top), 0.0, top)
        e = torch.exp(s - top)
        z = e.sum(dim=0, keepdim=True)
        return torch.where(visible, e / z, 0.0)

    def __call__(self, q, k, v, visible):
        p = self.normalise(self.score(q, k, visible), visible)
        return torch.matmul(p, v)


def attention(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.shape[-2])
    if mask is None:
        mask = torch.ones(shape, dtype=torch.bool, device=q.device)
    visible = mask.broadcast_to(shape)
    return Attention(q.shape[-1])(q, k, v, visible)
