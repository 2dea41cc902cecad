"""Latent attention with a rotary part."""

from __future__ import annotations

import math

import torch


def rotate(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """Half-split RoPE of x (..., T, D_r) by angles (T, D_r/2)."""
    cos, sin = angles.cos(), angles.sin()  # (T, D_r/2)
    a, b = x.double().chunk(2, dim=-1)  # (..., T, D_r/2)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, T, n * D) -> (B, n, T, D)."""
    batch, length, features = x.shape
    return x.view(batch, length, n_heads, features // n_heads).transpose(1, 2)


def latent_rope_attention(
    x: torch.Tensor,
    w_q: torch.Tensor,
    w_dkv: torch.Tensor,
    w_uk: torch.Tensor,
    w_uv: torch.Tensor,
    w_o: torch.Tensor,
    n_heads: int,
    positions: torch.Tensor,
    base: float = 10000.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Causal latent attention; the rotary key is shared by all heads.

    x          (B, T, d)             float32, float64 or bfloat16
    w_q        (H * (D + D_r), d)    stored (out, in): a projection is x @ w.T
    w_dkv      (R + D_r, d)
    w_uk       (H * D, R)
    w_uv       (H * D_v, R)
    w_o        (d, H * D_v)
    positions  (T,)                  int64
    out        (B, T, d)             in x's dtype
    cache      (B, T, R + D_r)       the latent, then the rotated key
    """
    batch, length, _ = x.shape
    d_latent, d_content = w_uk.shape[1], w_uk.shape[0] // n_heads
    d_rotary = w_dkv.shape[0] - d_latent
    pairs = torch.arange(d_rotary // 2, device=x.device, dtype=torch.float64)  # (D_r/2,)
    angles = positions[:, None].double() * base ** (-2.0 * pairs / d_rotary)  # (T, D_r/2)

    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D + D_r)
    q_content, q_rotary = q[..., :d_content], q[..., d_content:]
    q = torch.cat((q_content, rotate(q_rotary, angles)), dim=-1)

    cache = x @ w_dkv.T  # (B, T, R + D_r)
    latent, k_rotary = cache[..., :d_latent], cache[..., d_latent:]
    k_rotary = rotate(k_rotary, angles)[:, None]  # (B, 1, T, D_r)
    cache = torch.cat((latent, k_rotary[:, 0]), dim=-1)
    k_content = split_heads(latent @ w_uk.T, n_heads)  # (B, H, T, D)
    k = torch.cat((k_content, k_rotary.expand(-1, n_heads, -1, -1)), dim=-1)
    v = split_heads(latent @ w_uv.T, n_heads)  # (B, H, T, D_v)

    scores = q @ k.transpose(-2, -1) / math.sqrt(d_content + d_rotary)  # (B, H, T, T)
    future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)  # (B, H, T, T)
    mixed = weights @ v  # (B, H, T, D_v)
    return mixed.transpose(1, 2).reshape(batch, length, -1) @ w_o.T, cache
