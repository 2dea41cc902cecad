"""Other ways to write `debug-gqa-rope`, each with the signature of its reference."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.baselines import core
from reference.baselines.rope import rope_complex, rope_matrix, rope_rotate_half, rope_stacked


def _causal(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (T, T)


def _heads_first(x: Tensor) -> Tensor:
    return x.permute(0, 2, 1, 3)  # (B, T, H, D) <-> (B, H, T, D)


def _owner(n_heads: int, n_kv_heads: int) -> list[int]:
    return [h * n_kv_heads // n_heads for h in range(n_heads)]


def debug_gqa_rope_einsum(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor, base: float = 10000.0
) -> Tensor:
    """Complex rotation, einsum."""
    owner = _owner(q.shape[2], k.shape[2])
    turned = [rope_complex(_heads_first(x), positions, base) for x in (q, k)]  # (B, H, T, D)
    mask = _causal(q.shape[1], q.device)
    mixed = core.einsum(turned[0], turned[1][:, owner], _heads_first(v)[:, owner], mask)
    return _heads_first(mixed)


def debug_gqa_rope_per_head(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor, base: float = 10000.0
) -> Tensor:
    """Rotated halves, a head at a time."""
    outs = []
    for h, own in enumerate(_owner(q.shape[2], k.shape[2])):
        one_q, one_k = (
            rope_rotate_half(x[:, None, :, i], positions, base) for x, i in ((q, h), (k, own))
        )  # (B, 1, T, D)
        mask = _causal(q.shape[1], q.device)
        outs.append(core.per_head(one_q, one_k, v[:, None, :, own], mask)[:, 0])  # (B, T, D)
    return torch.stack(outs, dim=2)  # (B, T, H, D)


def debug_gqa_rope_tiled(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor, base: float = 10000.0
) -> Tensor:
    """Rotation matrices, key blocks with an online softmax."""
    group = q.shape[2] // k.shape[2]
    turned = [rope_matrix(_heads_first(x), positions, base) for x in (q, k)]  # (B, H, T, D)
    keys, values = (
        x[:, :, None].expand(-1, -1, group, -1, -1).flatten(1, 2)
        for x in (turned[1], _heads_first(v))
    )  # (B, H, T, D)
    return _heads_first(core.tiled(turned[0], keys, values, _causal(q.shape[1], q.device)))


def debug_gqa_rope_grouped(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor, base: float = 10000.0
) -> Tensor:
    """The query heads of a group against their one key/value head: nothing is copied."""
    batch, length, n_heads, width = q.shape
    turned_q, turned_k = (
        rope_stacked(_heads_first(x), positions, base) for x in (q, k)
    )  # (B, H, T, D), (B, H_kv, T, D)
    rows = turned_q.reshape(batch, k.shape[2], -1, length, width)  # (B, H_kv, G, T, D)
    scores = rows @ turned_k[:, :, None].mT / width**0.5  # (B, H_kv, G, T, T)
    scores = torch.where(_causal(length, q.device), scores, torch.finfo(scores.dtype).min)
    mixed = torch.softmax(scores, dim=-1) @ _heads_first(v)[:, :, None]  # (B, H_kv, G, T, D)
    return _heads_first(mixed.reshape(batch, n_heads, length, width))
