"""Causal linear attention: the softmax's kernel replaced by a product of feature maps.

Source: Katharopoulos et al., "Transformers are RNNs" (2020), section 3.3, equations 9 to 12;
the feature map is equation 7.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import elu


def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """phi(q_i) S_i / (phi(q_i) . z_i), with phi(x) = elu(x) + 1.

    S_i is the sum of phi(k_j) v_j^T, and z_i that of phi(k_j), over j <= i. q and k (B, H, T, D),
    v (B, H, T, D_v), one float dtype. Returns (B, H, T, D_v). Time is linear in T.
    """
    q, k = elu(q) + 1, elu(k) + 1  # (B, H, T, D), positive
    state = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(dim=2)  # (B, H, T, D, D_v)
    key_sum = k.cumsum(dim=2)  # (B, H, T, D)
    mixed = torch.einsum("bhtd,bhtde->bhte", q, state)  # (B, H, T, D_v)
    return mixed / (q * key_sum).sum(dim=-1, keepdim=True)
