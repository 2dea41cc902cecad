"""One decoding step over caches of several lengths, by split-KV.

Source: Dao et al., "Flash-Decoding for long-context inference" (2023): with one query a sequence
there are too few rows to keep a GPU busy, so the keys are split, each part attended to by itself,
and the parts merged by their log-sum-exps.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.merge_attention import merge_attention

SPLIT = 256
"""Slots of the cache that one part looks at."""


def attend_part(rows: Tensor, k: Tensor, v: Tensor, used: Tensor) -> tuple[Tensor, Tensor]:
    """Attention to a part of the keys, and the log-sum-exp of its scores.

    rows (B, H_kv, G, D), scaled, float32 at least; k, v (B, H_kv, part, D); used (B, part) bool:
    False for slots that hold no token. Returns o (B, H_kv, G, D) and lse (B, H_kv, G): 0 and -inf
    where nothing is used.
    """
    k, v = k.to(rows.dtype), v.to(rows.dtype)  # half precision carries, and does not sum
    scores = rows @ k.transpose(-2, -1)  # (B, H_kv, G, part)
    scores = scores.masked_fill(~used[:, None, None, :], -torch.inf)
    m = scores.amax(dim=-1, keepdim=True)  # (B, H_kv, G, 1)
    m = m.masked_fill(m == -torch.inf, 0.0)  # nothing is used: -inf - -inf would be NaN
    weights = torch.exp(scores - m)  # (B, H_kv, G, part)
    total = weights.sum(dim=-1, keepdim=True)  # (B, H_kv, G, 1): 0, or at least 1
    return weights @ v / total.clamp(min=1.0), (m + torch.log(total)).squeeze(-1)


def fused_decode(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """Attention of one query a sequence to the first `lengths` slots of its cache.

    q (B, H, 1, D), caches (B, H_kv, S, D), one float dtype; lengths (B,) int64, 1 to S; query head
    h reads key/value head h // (H // H_kv). Returns (B, H, 1, D). No key is copied for another
    head: the G = H // H_kv queries of a group are the rows of one product with their shared head.
    """
    wide = torch.promote_types(q.dtype, torch.float32)
    rows = q.view(len(q), k_cache.shape[1], -1, q.shape[-1]).to(wide)  # (B, H_kv, G, D)
    rows = rows / math.sqrt(q.shape[-1])
    slot = torch.arange(k_cache.shape[2], device=q.device)  # (S,)
    used = slot < lengths[:, None]  # (B, S)
    out, lse = torch.zeros_like(rows), torch.full_like(rows[..., 0], -torch.inf)
    longest = int(lengths.max())  # what no sequence uses is not read
    for start in range(0, longest, SPLIT):
        part = slice(start, min(start + SPLIT, longest))
        o, own = attend_part(rows, k_cache[:, :, part], v_cache[:, :, part], used[:, part])
        out, lse = merge_attention(out, lse, o, own)  # the first part sees a key in every row
    return out.view_as(q).to(q.dtype)  # (B, H, 1, D)
