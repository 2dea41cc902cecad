from typing import NamedTuple

import torch
from torch import Tensor


class Part(NamedTuple):
    o: Tensor
    lse: Tensor


def pick(condition: Tensor, a: Part, b: Part) -> Part:
    return Part(
        torch.where(condition.unsqueeze(-1), a.o, b.o), torch.where(condition, a.lse, b.lse)
    )


def merge_attention(o_a, lse_a, o_b, lse_b):
    a = Part(o_a.float(), lse_a.float())
    b = Part(o_b.float(), lse_b.float())
    a_leads = a.lse >= b.lse
    big, small = pick(a_leads, a, b), pick(a_leads, b, a)
    # big.lse is finite: one part at least saw a key
    ratio = torch.exp(small.lse - big.lse)
    o = (big.o + ratio[..., None] * small.o) / (1 + ratio[..., None])
    lse = big.lse + torch.log1p(ratio)
    return o.to(o_a.dtype), lse.to(lse_a.dtype)
