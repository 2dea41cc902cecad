"""Exact attention in tiles of queries by keys, key/value heads shared by index.

Source: Dao, "FlashAttention-2" (2023), section 3.1, tiles of queries outside and blocks of keys
inside; key/value heads shared as in Ainslie et al., "GQA" (2023).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.kernels.running import absorb, empty

TILE = 128
"""Queries, and keys, that one step looks at."""


def fused_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """softmax(q k^T / sqrt(D)) v; nothing made has T x S elements.

    q (B, H, T, D), k and v (B, H_kv, S, D), one float dtype; H_kv divides H, and query head h reads
    key/value head h // (H // H_kv). With `causal`, T <= S, and query i sits at position S - T + i.
    Returns (B, H, T, D).
    """
    batch, _, queries, width = q.shape
    n_kv_heads, keys = k.shape[1:3]
    wide = torch.promote_types(q.dtype, torch.float32)  # half precision carries, and does not sum
    # The heads of a group lie side by side: as rows against one key/value head nothing is copied.
    grouped = q.reshape(batch, n_kv_heads, -1, queries, width)  # (B, H_kv, G, T, D)
    out = torch.empty_like(grouped)  # (B, H_kv, G, T, D)
    grouped = grouped.to(wide) / math.sqrt(width)
    for first in range(0, queries, TILE):  # on a GPU these run at once, one program each
        tile = grouped[:, :, :, first : first + TILE]  # (B, H_kv, G, <= tile, D)
        place = torch.arange(tile.shape[3], device=q.device) + keys - queries + first  # (<= tile,)
        place = place.repeat(tile.shape[2])  # (rows,), used if causal
        rows = tile.flatten(2, 3)  # (B, H_kv, rows, D), rows = G * tile
        state = empty(rows)
        end = min(first + TILE, queries) + keys - queries if causal else keys
        for start in range(0, end, TILE):  # tiles ahead of every query are skipped
            block = slice(start, min(start + TILE, end))  # the last one is shorter: no padding
            scores = rows @ k[:, :, block].to(wide).transpose(-2, -1)  # (B, H_kv, rows, <= tile)
            if causal:
                key = torch.arange(block.start, block.stop, device=q.device)  # (<= tile,)
                scores = scores.masked_fill(key > place[:, None], -torch.inf)
            state = absorb(state, scores, v[:, :, block].to(wide))
        out[:, :, :, first : first + TILE] = (state.out / state.total).view_as(tile)
    return out.flatten(1, 2)  # (B, H, T, D)
