"""Softmax along one dimension, shifted by the maximum so that no exponential overflows.

Source: Goodfellow, Bengio and Courville, "Deep Learning" (2016), section 4.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`.

    x: any shape of one dimension or more, any float dtype; entries may be -inf.
    Returns the same shape and dtype. A row whose entries are all -inf gives zeros.
    """
    top = x.amax(dim=dim, keepdim=True)
    # -inf - -inf is NaN: a row that is wholly hidden is shifted by 0 instead.
    top = top.masked_fill(top == -torch.inf, 0.0)
    weights = torch.exp(x - top)
    total = weights.sum(dim=dim, keepdim=True)
    # An empty row sums to 0, any other to at least 1, the leader's exp(0).
    return weights / total.masked_fill(total == 0.0, 1.0)
