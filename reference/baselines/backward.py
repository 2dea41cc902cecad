"""Other ways to write `attention-backward`, in the dtype of its inputs throughout."""

from __future__ import annotations

import torch
from torch import Tensor

Gradients = tuple[Tensor, Tensor, Tensor]


def _scores(q: Tensor, k: Tensor) -> Tensor:
    """The scaled scores (B, H, T, T), the future at -inf."""
    scores: Tensor = (q * q.shape[-1] ** -0.5) @ k.mT  # (B, H, T, T)
    future = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)  # (T, T)
    return scores.masked_fill(future, -torch.inf)


def attention_backward_epsilon(q: Tensor, k: Tensor, v: Tensor, d_out: Tensor) -> Gradients:
    """An epsilon in the normaliser: 1e-6, or one rounding of the dtype where that is more.

    The row term is a mean over the weights.
    """
    epsilon = max(1e-6, torch.finfo(q.dtype).eps)
    scores = _scores(q, k)  # (B, H, T, T)
    raised = torch.exp(scores - scores.amax(dim=-1, keepdim=True))  # (B, H, T, T)
    weights = raised / (raised.sum(dim=-1, keepdim=True) + epsilon)  # (B, H, T, T)
    d_weights = torch.einsum("bhid,bhjd->bhij", d_out, v)  # (B, H, T, T)
    row_term = (weights * d_weights).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    d_scores = weights * (d_weights - row_term) * q.shape[-1] ** -0.5  # (B, H, T, T)
    return (
        torch.einsum("bhij,bhjd->bhid", d_scores, k),
        torch.einsum("bhij,bhid->bhjd", d_scores, q),
        torch.einsum("bhij,bhid->bhjd", weights, d_out),
    )


def attention_backward_jacobian(q: Tensor, k: Tensor, v: Tensor, d_out: Tensor) -> Gradients:
    """The softmax's Jacobian of each row, written out."""
    scale = q.shape[-1] ** -0.5
    weights = torch.softmax(_scores(q, k), dim=-1)  # (B, H, T, T)
    jacobian = torch.diag_embed(weights) - weights[..., None] * weights[..., None, :]
    d_weights = (d_out[..., :, None, :] * v[..., None, :, :]).sum(dim=-1)  # (B, H, T, T)
    d_scores = (jacobian @ d_weights[..., None])[..., 0]  # (B, H, T, T)
    return scale * d_scores @ k, scale * (d_scores.mT @ q), weights.mT @ d_out


def attention_backward_rows(q: Tensor, k: Tensor, v: Tensor, d_out: Tensor) -> Gradients:
    """Query by query: each sees a prefix, and adds its part to the gradients of the prefix."""
    scale = q.shape[-1] ** -0.5
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(q.shape[2]):
        seen = slice(0, i + 1)
        row, slope = q[:, :, i, None], d_out[:, :, i, None]  # (B, H, 1, D)
        weights = torch.softmax(scale * (row * k[:, :, seen]).sum(dim=-1), dim=-1)  # (B, H, i+1)
        mixed = (weights[..., None] * v[:, :, seen]).sum(dim=2, keepdim=True)  # (B, H, 1, D)
        centred = ((v[:, :, seen] - mixed) * slope).sum(dim=-1)  # (B, H, i+1)
        d_scores = (scale * weights * centred)[..., None]  # (B, H, i+1, 1)
        d_q[:, :, i] = (d_scores * k[:, :, seen]).sum(dim=2)
        d_k[:, :, seen] += d_scores * row
        d_v[:, :, seen] += weights[..., None] * slope
    return d_q, d_k, d_v


def attention_backward_tiles(q: Tensor, k: Tensor, v: Tensor, d_out: Tensor) -> Gradients:
    """Blocks of three keys, from the output and the log-sum-exp of a first pass."""
    scores = _scores(q, k)  # (B, H, T, T)
    lse = torch.logsumexp(scores, dim=-1, keepdim=True)  # (B, H, T, 1)
    row_term = (torch.softmax(scores, dim=-1) @ v * d_out).sum(dim=-1, keepdim=True)
    scaled = q * q.shape[-1] ** -0.5  # (B, H, T, D)
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.shape[2], 3):
        block = slice(start, start + 3)
        weights = torch.exp(scores[..., block] - lse)  # (B, H, T, <= 3)
        d_scores = weights * (d_out @ v[:, :, block].mT - row_term)  # (B, H, T, <= 3)
        d_q += d_scores @ k[:, :, block]
        d_k[:, :, block] = d_scores.mT @ scaled
        d_v[:, :, block] = weights.mT @ d_out
    return d_q * q.shape[-1] ** -0.5, d_k, d_v
