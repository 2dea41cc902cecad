"""Rotary grouped-query attention."""

from __future__ import annotations

import torch


def angle_table(positions: torch.Tensor, width: int, base: float) -> torch.Tensor:
    """The angle of every feature: positions (T,) -> (T, 1, D), to broadcast over the heads."""
    evens = torch.arange(0, width, 2, device=positions.device, dtype=torch.float64)  # (D/2,)
    angles = torch.outer(positions.double(), base ** (-evens / width))  # (T, D/2)
    # Both elements of a pair, i and i + D/2, turn by the same angle.
    return torch.cat((angles, angles), dim=-1)[:, None, :]


def rotate(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Rotate the pairs (i, i + D/2) of x (B, T, n, D)."""
    a, b = x.chunk(2, dim=-1)  # (B, T, n, D/2)
    turned = torch.cat((-b, a), dim=-1)  # (B, T, n, D)
    return (x * table.cos() + turned * table.sin()).to(x.dtype)


def share_kv_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, T, H_kv, D) -> (B, T, H, D)."""
    batch, length, n_kv_heads, width = x.shape
    # Each group of query heads reads a copy of the same key/value head.
    copies = x[:, :, :, None].expand(-1, -1, -1, n_heads // n_kv_heads, -1)
    return copies.reshape(batch, length, n_heads, width)


def rope_gqa(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    positions: torch.Tensor,
    base: float = 10000.0,
) -> torch.Tensor:
    """Causal attention; query head h uses key/value head h // (H // H_kv).

    q          (B, T, H, D)     float32, float64 or bfloat16
    k, v       (B, T, H_kv, D)
    positions  (T,)             int64
    out        (B, T, H, D)     in q's dtype
    """
    _, length, n_heads, width = q.shape
    assert positions.shape == (length,), "one position a token"
    table = angle_table(positions, width, base)  # (T, 1, D)
    q, k = rotate(q, table), rotate(k, table)
    k, v = share_kv_heads(k, n_heads), share_kv_heads(v, n_heads)  # (B, T, H, D)

    scores = torch.einsum("bthd,bshd->bhts", q, k) * width**-0.5  # (B, H, T, T)
    past = torch.ones(length, length, dtype=torch.bool, device=q.device).tril()  # (T, T)
    weights = scores.masked_fill(~past, float("-inf")).softmax(dim=-1)  # (B, H, T, T)
    return torch.einsum("bhts,bshd->bthd", weights, v)
