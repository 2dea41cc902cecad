"""Other ways to write the softmax and mask drills."""

from __future__ import annotations

import torch
from torch import Tensor


def stable_softmax_log_space(x: Tensor, dim: int = -1) -> Tensor:
    """exp(y - log(sum(exp(y)))) of the shifted y."""
    y = x - x.max(dim=dim, keepdim=True).values.clamp(min=torch.finfo(x.dtype).min)
    log_total = y.exp().sum(dim=dim, keepdim=True).log()
    return torch.exp(y - torch.where(log_total == -torch.inf, 0.0, log_total))


def stable_softmax_builtin(x: Tensor, dim: int = -1) -> Tensor:
    """torch.softmax, its NaN rows mended."""
    empty = (x == -torch.inf).all(dim=dim, keepdim=True)
    return torch.where(empty, 0.0, torch.softmax(x, dim=dim))


def stable_softmax_blocks(x: Tensor, dim: int = -1) -> Tensor:
    """The normaliser in blocks of three, entry by entry within; a product with its reciprocal."""
    rows = x.movedim(dim, -1)  # (..., N)
    top = rows.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)  # (..., 1)
    raised = torch.exp(rows - top)  # (..., N)
    total = torch.zeros_like(top)  # (..., 1)
    for start in range(0, rows.shape[-1], 3):
        block = torch.zeros_like(top)
        for entry in raised[..., start : start + 3].unbind(dim=-1):
            block = block + entry[..., None]
        total = total + block
    return (raised * torch.where(total == 0.0, 0.0, 1.0 / total)).movedim(-1, dim)


def online_softmax_two_pass(x: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """The maximum first, then one sum; the block size changes nothing."""
    m = x.amax(dim=-1)  # (...)
    return m, torch.exp(x - m[..., None]).sum(dim=-1)


def online_softmax_reversed(x: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """Last block first; each block summed against its own maximum."""
    starts = reversed(range(0, x.shape[-1], block_size))
    m, total = x.new_full(x.shape[:-1], -torch.inf), x.new_zeros(x.shape[:-1])  # (...)
    for start in starts:
        block = x[..., start : start + block_size]  # (..., <= block)
        own = block.amax(dim=-1)  # (...)
        part = torch.exp(block - own[..., None]).sum(dim=-1)  # (...)
        higher = torch.maximum(m, own)
        total = total * torch.exp(m - higher) + part * torch.exp(own - higher)
        m = higher
    return m, total


def online_softmax_entries(x: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """Entry by entry, the finest blocks there are. In float32 at least: a bfloat16 sum of ones
    stays at 256."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., N)
    m, total = wide[..., 0], torch.ones_like(wide[..., 0])  # (...)
    for entry in wide[..., 1:].unbind(dim=-1):
        higher = torch.maximum(m, entry)
        total = total * torch.exp(m - higher) + torch.exp(entry - higher)
        m = higher
    return m.to(x.dtype), total.to(x.dtype)


def online_softmax_pairwise(x: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """All blocks apart, then merged two by two as a tree."""
    parts = []
    for start in range(0, x.shape[-1], block_size):
        block = x[..., start : start + block_size]  # (..., <= block)
        parts.append((block.amax(dim=-1), torch.exp(block - block.amax(-1, True)).sum(dim=-1)))
    while len(parts) > 1:
        merged = []
        for (m_a, l_a), (m_b, l_b) in zip(parts[::2], parts[1::2], strict=False):
            m = torch.maximum(m_a, m_b)
            merged.append((m, l_a * torch.exp(m_a - m) + l_b * torch.exp(m_b - m)))
        parts = merged + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0]


def causal_mask_tril(t: int, s: int) -> Tensor:
    """The lower triangle, its diagonal moved right by the keys of the past."""
    return torch.ones(t, s, dtype=torch.bool).tril(diagonal=s - t)  # (t, s)


def causal_mask_triu(t: int, s: int) -> Tensor:
    """All but the upper triangle."""
    return ~torch.triu(torch.ones(t, s, dtype=torch.bool), diagonal=s - t + 1)  # (t, s)


def causal_mask_rows(t: int, s: int) -> Tensor:
    """A list of lists, entry by entry."""
    return torch.tensor([[j <= s - t + i for j in range(s)] for i in range(t)])  # (t, s)
