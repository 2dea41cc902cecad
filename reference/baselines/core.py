"""Attention written four ways, in the dtype of its inputs throughout.

Each takes q (B, H, T, D), k (B, H, S, D), v (B, H, S, D_v) and a bool mask that broadcasts to
(B, H, T, S), True where a query may attend, and returns (B, H, T, D_v); empty rows are zero.
Their disagreement is the rounding that a right answer may show.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Attend = Callable[[Tensor, Tensor, Tensor, "Tensor | None"], Tensor]


def _full(mask: Tensor | None, q: Tensor, k: Tensor) -> Tensor:
    """The mask over the whole (B, H, T, S)."""
    shape = (*q.shape[:-1], k.shape[-2])
    if mask is None:
        return torch.ones(shape, dtype=torch.bool, device=q.device)
    return mask.expand(shape)


def einsum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """The query is scaled before the product; exponentials are zeroed where hidden."""
    allowed = _full(mask, q, k)  # (B, H, T, S)
    scores = torch.einsum("bhtd,bhsd->bhts", q * q.shape[-1] ** -0.5, k)  # (B, H, T, S)
    sees_any = allowed.any(dim=-1, keepdim=True)  # (B, H, T, 1)
    hidden = ~allowed & sees_any
    top = scores.detach().masked_fill(hidden, -torch.inf).amax(dim=-1, keepdim=True)
    raised = torch.exp((scores - top).masked_fill(hidden, -torch.inf))  # (B, H, T, S)
    raised = raised.masked_fill(~sees_any, 0.0)
    total = raised.sum(dim=-1, keepdim=True).masked_fill(~sees_any, 1.0)  # (B, H, T, 1)
    return torch.einsum("bhts,bhsd->bhtd", raised, v) / total  # (B, H, T, D_v)


def per_head(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """One batch element and one head at a time; the score is a sum over features."""
    allowed = _full(mask, q, k)  # (B, H, T, S)
    rows = []
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            products = q[b, h][:, None, :] * k[b, h][None, :, :]  # (T, S, D)
            scores = products.sum(dim=-1) * q.shape[-1] ** -0.5  # (T, S)
            sees_any = allowed[b, h].any(dim=-1, keepdim=True)  # (T, 1)
            scores = torch.where(allowed[b, h] | ~sees_any, scores, -torch.inf)  # (T, S)
            weights = torch.exp(torch.log_softmax(scores, dim=-1))  # (T, S)
            weights = torch.where(sees_any, weights, 0.0)
            rows.append((weights[:, :, None] * v[b, h][None, :, :]).sum(dim=1))  # (T, D_v)
    return torch.stack(rows).view(*q.shape[:-1], v.shape[-1])  # (B, H, T, D_v)


def tiled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, block: int = 3) -> Tensor:
    """Key blocks, with a running maximum and normaliser (online softmax)."""
    allowed = _full(mask, q, k)  # (B, H, T, S)
    m = q.new_full(q.shape[:-1], -torch.inf)  # (B, H, T)
    total = q.new_zeros(q.shape[:-1])  # (B, H, T)
    out = q.new_zeros((*q.shape[:-1], v.shape[-1]))  # (B, H, T, D_v)
    for start in range(0, k.shape[-2], block):
        keys, values = k[..., start : start + block, :], v[..., start : start + block, :]
        visible = allowed[..., start : start + block]  # (B, H, T, block)
        scores = (q @ keys.transpose(-2, -1)) * q.shape[-1] ** -0.5  # (B, H, T, block)
        scores = scores.masked_fill(~visible, -torch.inf)
        m_new = torch.maximum(m, scores.detach().amax(dim=-1))  # (B, H, T)
        shift = m_new.masked_fill(m_new == -torch.inf, 0.0)  # while nothing was seen yet
        keep = torch.exp(m - shift)  # (B, H, T)
        raised = torch.exp(scores - shift[..., None])  # (B, H, T, block)
        total = total * keep + raised.sum(dim=-1)
        out = out * keep[..., None] + raised @ values
        m = m_new
    return out / total.masked_fill(total == 0.0, 1.0)[..., None]  # (B, H, T, D_v)


def finite_fill(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Hidden scores become the dtype's least number; empty rows are mended afterwards."""
    allowed = _full(mask, q, k)  # (B, H, T, S)
    scores = torch.matmul(q / q.shape[-1] ** 0.5, k.mT)  # (B, H, T, S)
    scores = torch.where(allowed, scores, torch.finfo(scores.dtype).min)
    out = torch.softmax(scores, dim=-1) @ v  # (B, H, T, D_v)
    return torch.where(allowed.any(dim=-1, keepdim=True), out, 0.0)
