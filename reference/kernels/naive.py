"""What a kernel is measured against: the plain mathematics, every intermediate tensor written out.

These run in processes of their own, so this module imports torch and nothing of ours. Each has the
signature of the drill whose name it bears.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def nothing(*_: object) -> None:
    """What handing the arguments of any of them over costs."""


def copied(x: Tensor) -> Tensor:
    """What reading x once and writing it once takes: the memory's bandwidth."""
    return x.clone()


def softmax(x: Tensor) -> Tensor:
    """`fused-softmax`: x (rows, cols) to (rows, cols), in four passes over whole tensors."""
    shifted = x - x.amax(dim=-1, keepdim=True)  # (rows, cols)
    raised = torch.exp(shifted)  # (rows, cols)
    return raised / raised.sum(dim=-1, keepdim=True)


def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """`fused-attention`: keys and values expanded to all heads, all T x S scores at once.

    q (B, H, T, D), k and v (B, H_kv, S, D); with `causal` query i sees keys 0 to S - T + i.
    Returns (B, H, T, D).
    """
    queries, keys = q.shape[-2], k.shape[-2]
    k, v = _expanded(k, q.shape[1]), _expanded(v, q.shape[1])  # (B, H, S, D)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    if causal:
        ahead = torch.ones(queries, keys, dtype=torch.bool, device=q.device).triu(
            keys - queries + 1
        )
        scores = scores.masked_fill(ahead, -torch.inf)
    return softmax(scores) @ v  # (B, H, T, D)


def decode(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """`fused-decode`: caches expanded to all heads, scores of all slots, unused ones hidden.

    q (B, H, 1, D), caches (B, H_kv, S, D), lengths (B,) int64. Returns (B, H, 1, D).
    """
    k, v = _expanded(k_cache, q.shape[1]), _expanded(v_cache, q.shape[1])  # (B, H, S, D)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, 1, S)
    slot = torch.arange(k.shape[2], device=q.device)  # (S,)
    unused = (slot >= lengths[:, None])[:, None, None, :]  # (B, 1, 1, S)
    return softmax(scores.masked_fill(unused, -torch.inf)) @ v  # (B, H, 1, D)


def paged_decode(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """`paged-decode-kernel`: all pages gathered into a contiguous cache, then `decode`.

    q (B, H, 1, D), pages (P, page, H_kv, D), block_table (B, max_pages) int64 with -1 where unused,
    lengths (B,) int64. Returns (B, H, 1, D).
    """
    k, v = (
        pages[block_table.clamp(min=0)].flatten(1, 2).transpose(1, 2)  # (B, H_kv, S, D)
        for pages in (k_pages, v_pages)
    )
    return decode(q, k, v, lengths)


def _expanded(kv: Tensor, n_heads: int) -> Tensor:
    """(B, H_kv, S, D) to (B, H, S, D): a copy a query head."""
    return kv.repeat_interleave(n_heads // kv.shape[1], dim=1)
