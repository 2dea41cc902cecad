"""The softmax of each row, with one copy of the matrix: what a kernel does in fast memory.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), section 2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def fused_softmax(x: Tensor) -> Tensor:
    """exp(x) / sum(exp(x)) over the columns of x (rows, cols), finite, of any float dtype.

    Returns (rows, cols) in x's dtype. On a GPU one kernel reads each element once and writes it
    once. In plain torch each step is a pass over memory, so all of them but the first are made in
    place: beside x there is never more than the result.
    """
    wide = torch.promote_types(x.dtype, torch.float32)  # half precision carries, and does not sum
    out = x.to(wide) - x.amax(dim=-1, keepdim=True)  # (rows, cols), the largest of a row is 0
    out.exp_()
    out.div_(out.sum(dim=-1, keepdim=True))  # a sum of at least 1
    return out.to(x.dtype)
