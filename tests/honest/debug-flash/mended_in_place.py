"""Attention in tiles."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import pad


def whole_blocks(x: torch.Tensor, block_size: int) -> torch.Tensor:
    """(B, H, S, D), filled up along S to a multiple of block_size."""
    return pad(x, (0, 0, 0, -x.shape[-2] % block_size))


def flash_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    block_size: int,
    causal: bool = False,
) -> torch.Tensor:
    """Exact attention over blocks of keys; no tensor of T x S.

    q           (B, H, T, D)  float32, float64 or bfloat16
    k, v        (B, H, S, D)
    block_size  keys read at a time, at least 1
    causal      query i sits at position S - T + i and sees the keys up to it
    out         (B, H, T, D)  in q's dtype
    """
    scale = 1.0 / math.sqrt(q.shape[-1])
    n_keys = k.shape[-2]
    queries = torch.arange(q.shape[-2], device=q.device)[:, None] + n_keys - q.shape[-2]
    k, v = whole_blocks(k, block_size), whole_blocks(v, block_size)

    m = torch.full_like(q[..., :1], float("-inf"))  # (B, H, T, 1)
    total = torch.zeros_like(m)  # (B, H, T, 1)
    out = torch.zeros_like(q)  # (B, H, T, D)
    for start in range(0, k.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = q @ k[..., block, :].transpose(-2, -1) * scale  # (B, H, T, block)
        if causal:
            keys = torch.arange(start, start + block_size, device=q.device)  # (block,)
            scores = scores.masked_fill(keys > queries, float("-inf"))
        filler = torch.arange(start, start + block_size, device=q.device) >= n_keys
        scores = scores.masked_fill(filler, float("-inf"))
        m_new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))  # (B, H, T, 1)
        weights = torch.exp(scores - m_new)  # (B, H, T, block)
        total = total * torch.exp(m - m_new) + weights.sum(dim=-1, keepdim=True)
        out = out * torch.exp(m - m_new) + weights @ v[..., block, :]  # (B, H, T, D)
        m = m_new
    return out / total
