"""One decoding step over a paged key/value cache.

Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention" (2023), section 4.1.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.gqa import share_kv_heads


def gather_pages(pages: Tensor, block_table: Tensor) -> Tensor:
    """Each sequence's pages in logical order, (B, H_kv, max_pages * page, D).

    pages (P, page, H_kv, D); block_table (B, max_pages) int64: the physical page of each logical
    one. Entries of -1 are unused: page 0 stands in for them.
    """
    gathered = pages[block_table.clamp(min=0)]  # (B, max_pages, page, H_kv, D)
    return gathered.flatten(start_dim=1, end_dim=2).transpose(1, 2)  # (B, H_kv, S, D)


def paged_decode(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """Attention of one query a sequence over its own tokens, wherever their pages lie.

    q (B, H, 1, D), pages (P, page, H_kv, D), one float dtype; block_table (B, max_pages) int64,
    unused entries -1; lengths (B,) int64, at least 1: token t of a sequence is in slot t % page
    of its logical page t // page. Returns (B, H, 1, D).
    """
    n_heads = q.shape[1]
    k = share_kv_heads(gather_pages(k_pages, block_table), n_heads)  # (B, H, S, D)
    v = share_kv_heads(gather_pages(v_pages, block_table), n_heads)  # (B, H, S, D)
    is_token = torch.arange(k.shape[2], device=q.device) < lengths[:, None]  # (B, S)
    return attention(q, k, v, is_token[:, None, None, :])  # (B, H, 1, D)
