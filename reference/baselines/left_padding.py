"""Other ways to write `debug-padding`, each with the signature of its reference."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.baselines import core


def _mask(lengths: Tensor, length: int) -> Tensor:
    """bool (B, 1, T, T): from the first token to the query."""
    place = torch.arange(length, device=lengths.device)  # (T,)
    first = (length - lengths)[:, None, None, None]  # (B, 1, 1, 1)
    return (place >= first) & (place <= place[:, None])


def debug_padding_einsum(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Scaled query, einsum, division after the mixing."""
    return core.einsum(q, k, v, _mask(lengths, k.shape[-2]))


def debug_padding_tiled(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Key blocks with an online softmax."""
    return core.tiled(q, k, v, _mask(lengths, k.shape[-2]))


def debug_padding_finite_fill(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """The least finite number where hidden."""
    return core.finite_fill(q, k, v, _mask(lengths, k.shape[-2]))


def debug_padding_cut(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """No padding mask at all: each sequence is cut out and attends alone."""
    out = torch.zeros_like(q)  # (B, H, T, D)
    for b, n in enumerate(lengths.tolist()):
        if n:
            mask = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
            own_q, own_k, own_v = (x[b : b + 1, :, -n:] for x in (q, k, v))  # (1, H, n, D)
            out[b, :, -n:] = core.per_head(own_q, own_k, own_v, mask)[0]
    return out
