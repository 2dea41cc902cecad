"""The softmax of each row, with one copy of the matrix: what a kernel does in fast memory.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), section 2.
"""

from __future__ import annotations

from torch import Tensor


def fused_softmax(x: Tensor) -> Tensor:
    """exp(x) / sum(exp(x)) over the columns of x (rows, cols), finite, of any float dtype.

    Returns (rows, cols) in x's dtype. On a GPU one kernel reads each element once and writes it
    once. In plain torch each step is a pass over memory, so all of them but the first are made in
    place: beside x there is never more than the result.
    """
    out = x - x.amax(dim=-1, keepdim=True)  # (rows, cols), the largest of a row is 0
    out.exp_()
    return out.div_(out.sum(dim=-1, keepdim=True))  # a sum of at least 1
