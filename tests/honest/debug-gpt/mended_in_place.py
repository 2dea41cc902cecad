"""A small GPT."""

from __future__ import annotations

import math

import torch


def norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """Layer norm over the features of x (B, T, d), without a bias."""
    mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)
    variance = x.var(dim=-1, keepdim=True, correction=0)  # (B, T, 1)
    return (x - mean) / (variance + 1e-5).sqrt() * gain  # (B, T, d)


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, T, H * D) -> (B, H, T, D)."""
    batch, length, width = x.shape
    return x.view(batch, length, n_heads, width // n_heads).transpose(1, 2)


def attention(
    x: torch.Tensor, w_qkv: torch.Tensor, w_o: torch.Tensor, n_heads: int
) -> torch.Tensor:
    """Causal multi-head attention of x (B, T, d)."""
    batch, length, width = x.shape
    q, k, v = (split_heads(part, n_heads) for part in (x @ w_qkv.T).chunk(3, dim=-1))

    # softmax(q k^T / sqrt(D)) v, each position over itself and those before it
    scores = q @ k.transpose(-2, -1) / math.sqrt(width // n_heads)  # (B, H, T, T)
    future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)  # (B, H, T, T)
    mixed = weights @ v  # (B, H, T, D)
    return mixed.transpose(1, 2).reshape(batch, length, width) @ w_o.T  # (B, T, d)


def mlp(x: torch.Tensor, w_up: torch.Tensor, w_down: torch.Tensor) -> torch.Tensor:
    """Two linear maps with a gelu between them, (B, T, d) -> (B, T, d)."""
    return torch.nn.functional.gelu(x @ w_up.T) @ w_down.T


def gpt(
    tokens: torch.Tensor,
    embed: torch.Tensor,
    places: torch.Tensor,
    w_qkv: torch.Tensor,
    w_o: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    g_attn: torch.Tensor,
    g_mlp: torch.Tensor,
    g_out: torch.Tensor,
    n_heads: int,
) -> torch.Tensor:
    """Logits of the next token at every position.

    tokens  (B, T)         int64
    embed   (V, d)         float32, float64 or bfloat16, as all weights
    places  (P, d)         w_qkv (L, 3 * d, d), w_o (L, d, d), w_up (L, F, d), w_down (L, d, F)
    gains   (L, d), (L, d) and (d,)
    logits  (B, T, V)
    """
    x = embed[tokens] + places[: tokens.shape[1]]  # (B, T, d)
    for n in range(w_qkv.shape[0]):
        x = x + attention(norm(x, g_attn[n]), w_qkv[n], w_o[n], n_heads)  # (B, T, d)
        x = x + mlp(norm(x, g_mlp[n]), w_up[n], w_down[n])  # (B, T, d)
    return norm(x, g_out) @ embed.T  # (B, T, V)
