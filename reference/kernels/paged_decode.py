"""One decoding step over a paged key/value cache, page by page.

Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention" (2023), section 4.1: a kernel follows the block table, and gathers nothing.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.kernels.running import absorb, empty


def paged_decode(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """Attention of one query a sequence over its own tokens, wherever their pages lie.

    q (B, H, 1, D), pages (P, page, H_kv, D), one float dtype; block_table (B, max_pages) int64,
    unused entries -1; lengths (B,) int64, at least 1; query head h reads key/value head
    h // (H // H_kv). Returns (B, H, 1, D). At any time one page a sequence is in hand.
    """
    page, n_kv_heads = k_pages.shape[1:3]
    wide = torch.promote_types(q.dtype, torch.float32)  # half precision carries, and does not sum
    rows = q.view(len(q), n_kv_heads, -1, q.shape[-1]).to(wide)  # (B, H_kv, G, D)
    rows = rows / math.sqrt(q.shape[-1])
    state = empty(rows)
    for logical in range(-(-int(lengths.max()) // page)):
        # A sequence that has no such page reads page 0, and sees none of it.
        physical = block_table[:, logical].clamp(min=0)  # (B,)
        k, v = (pages[physical].transpose(1, 2).to(wide) for pages in (k_pages, v_pages))
        token = logical * page + torch.arange(page, device=q.device)  # (page,)
        unused = (token >= lengths[:, None])[:, None, None, :]  # (B, 1, 1, page)
        scores = rows @ k.transpose(-2, -1)  # (B, H_kv, G, page)
        # The first page holds a token of every sequence: m is finite from there on.
        state = absorb(state, scores.masked_fill(unused, -torch.inf), v)
    return (state.out / state.total).view_as(q).to(q.dtype)  # (B, H, 1, D)
