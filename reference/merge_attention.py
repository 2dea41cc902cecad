"""Attention over the union of two disjoint sets of keys, from the results over each.

Source: Ye et al., "FlashInfer" (2025), section 2.2, attention composition; the log-sum-exp
is that of FlashAttention (Dao et al. 2022, section 3.1).
"""

from __future__ import annotations

import torch
from torch import Tensor


def merge_attention(
    o_a: Tensor, lse_a: Tensor, o_b: Tensor, lse_b: Tensor
) -> tuple[Tensor, Tensor]:
    """The output and the log-sum-exp over the keys of both parts.

    o_a, o_b (B, H, T, D); lse_a, lse_b (B, H, T), the natural logarithm of the sum of the
    exponentials of a row's scaled scores, -inf where a part saw no key: its o is finite there and
    counts for nothing. At least one part of each row saw a key. Returns (o, lse) in these shapes.
    """
    m = torch.maximum(lse_a, lse_b)  # (B, H, T), finite
    weight_a, weight_b = torch.exp(lse_a - m), torch.exp(lse_b - m)  # (B, H, T), the larger is 1
    total = weight_a + weight_b  # (B, H, T)
    mixed = weight_a[..., None] * o_a + weight_b[..., None] * o_b  # (B, H, T, D)
    return mixed / total[..., None], m + torch.log(total)
