"""The backward pass of causal attention."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Saved(NamedTuple):
    """What the forward pass keeps for the backward pass."""

    out: torch.Tensor  # (B, H, T, D)
    lse: torch.Tensor  # (B, H, T, 1), the log-sum-exp of each row's scores


def forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Saved:
    """Causal attention, for a q that is scaled already."""
    future = torch.ones_like(q @ k.mT, dtype=torch.bool).triu(1)  # (B, H, T, T)
    scores = (q @ k.mT).masked_fill(future, float("-inf"))  # (B, H, T, T)
    lse = torch.logsumexp(scores, dim=-1, keepdim=True)  # (B, H, T, 1)
    return Saved(torch.softmax(scores, dim=-1) @ v, lse)


def attention_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    d_out: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of causal attention by hand.

    q, k, v        (B, H, T, D)  float32, float64 or bfloat16
    d_out          (B, H, T, D)  the gradient of out = softmax(q k^T / sqrt(D), causal) v
    d_q, d_k, d_v  (B, H, T, D)  in the inputs' dtype
    """
    scale = q.shape[-1] ** -0.5
    q = q * scale  # (B, H, T, D)
    saved = forward(q, k, v)

    weights = torch.exp(q @ k.mT - saved.lse).tril()  # (B, H, T, T)
    d_v = weights.mT @ d_out  # (B, H, T, D)
    d_weights = d_out @ v.mT  # (B, H, T, T)
    row_term = (d_out * saved.out).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    d_scores = weights * (d_weights - row_term)  # (B, H, T, T)
    d_q = d_scores @ k * scale  # (B, H, T, D)
    d_k = d_scores.mT @ q  # (B, H, T, D)
    return d_q, d_k, d_v
