"""The attention block of a decoder, mended"""

from __future__ import annotations

import math

import torch


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, T, n * D) -> (B, n, T, D)."""
    batch, length, features = x.shape
    return x.view(batch, length, n_heads, features // n_heads).transpose(1, 2)


def rotate(x: torch.Tensor, positions: torch.Tensor, base: float) -> torch.Tensor:
    """Half-split RoPE of x (B, n, T, D) by positions (T,)."""
    width = x.shape[-1]
    pairs = torch.arange(width // 2, device=x.device, dtype=torch.float64)  # (D/2,)
    angles = positions[:, None].double() * base ** (-2.0 * pairs / width)  # (T, D/2)
    cos, sin = angles.cos(), angles.sin()  # (T, D/2)
    a, b = x.double().chunk(2, dim=-1)  # (B, n, T, D/2)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)


def share_kv_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, H_kv, T, D) -> (B, H, T, D)."""
    return x.repeat_interleave(n_heads // x.shape[1], dim=1)


def attention_block(
    x: torch.Tensor,
    w_q: torch.Tensor,
    w_k: torch.Tensor,
    w_v: torch.Tensor,
    w_o: torch.Tensor,
    n_heads: int,
    n_kv_heads: int,
    positions: torch.Tensor,
    base: float = 10000.0,
) -> torch.Tensor:
    """Causal grouped-query attention with RoPE.

    x          (B, T, d)      float32, float64 or bfloat16
    w_q        (H * D, d)     stored (out, in): a projection is x @ w.T
    w_k, w_v   (H_kv * D, d)
    w_o        (d, H * D)
    positions  (T,)           int64
    out        (B, T, d)      in x's dtype
    """
    batch, length, _ = x.shape
    d_head = w_q.shape[0] // n_heads

    q = rotate(split_heads(x @ w_q.T, n_heads), positions, base)  # (B, H, T, D)
    k = rotate(split_heads(x @ w_k.T, n_kv_heads), positions, base)  # (B, H_kv, T, D)
    v = split_heads(x @ w_v.T, n_kv_heads)  # (B, H_kv, T, D)
    k = share_kv_heads(k, n_heads)  # (B, H, T, D)
    v = share_kv_heads(v, n_heads)  # (B, H, T, D)

    scores = q @ k.transpose(-2, -1) / math.sqrt(d_head)  # (B, H, T, T)
    future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)  # (B, H, T, T)
    mixed = weights @ v  # (B, H, T, D)
    return mixed.transpose(1, 2).reshape(batch, length, -1) @ w_o.T  # (B, T, d)
