"""One decoding step with a key/value cache.

Source: Shazeer, "Fast Transformer Decoding" (2019), section 2.4; key/value heads shared as in
Ainslie et al., "GQA" (2023).
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.gqa import share_kv_heads


def decode_step(
    q: Tensor, k_new: Tensor, v_new: Tensor, k_cache: Tensor, v_cache: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Append the new token's key and value, then attend to all of them.

    q (B, H, 1, D), k_new and v_new (B, H_kv, 1, D), caches (B, H_kv, S, D), S >= 0, one float
    dtype; H_kv divides H. Returns (out, k_cache, v_cache): out (B, H, 1, D), caches
    (B, H_kv, S+1, D). No mask: the new token is the last, and sees every key.
    """
    k = torch.cat([k_cache, k_new], dim=2)  # (B, H_kv, S+1, D)
    v = torch.cat([v_cache, v_new], dim=2)  # (B, H_kv, S+1, D)
    n_heads = q.shape[1]
    out = attention(q, share_kv_heads(k, n_heads), share_kv_heads(v, n_heads))  # (B, H, 1, D)
    return out, k, v
