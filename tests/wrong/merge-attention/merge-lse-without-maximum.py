from dataclasses import dataclass

import torch


@dataclass
class Partial:
    """Attention over some of the keys: unnormalised output, sum and maximum."""

    acc: torch.Tensor
    total: torch.Tensor
    peak: torch.Tensor

    @classmethod
    def of(cls, o, lse):
        return cls(o.double(), torch.ones_like(lse, dtype=torch.float64), lse.double())

    def join(self, other):
        peak = torch.maximum(self.peak, other.peak)
        left = torch.exp(self.peak - peak)
        right = torch.exp(other.peak - peak)
        acc = self.acc * left[..., None] + other.acc * right[..., None]
        total = self.total * left + other.total * right
        return Partial(acc, total, peak)

    def finish(self):
        return self.acc / self.total[..., None], torch.log(self.total)


def merge_attention(o_a, lse_a, o_b, lse_b):
    o, lse = Partial.of(o_a, lse_a).join(Partial.of(o_b, lse_b)).finish()
    return o.to(o_a.dtype), lse.to(lse_a.dtype)
