"""Multi-head attention with switches: projections, heads, rotation, causal mask, sharing.

The one implementation behind the families of `causal-mha`, `causal-mha-numpy`, `gqa` and the
attention block. With every switch at its default the result is right.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core
from reference.mistakes.rope import apply_rope

ROPE_SWITCHES = frozenset({"pairing", "turn", "exponent", "base_used", "place", "precision"})


def split_heads(x: Tensor, n_heads: int, how: str) -> Tensor:
    """(B, T, H*D) to (B, H, T, D): right; reshape (no transpose); interleaved (feature j is of
    head j mod H); or none (one head of the whole width)."""
    batch, length, _ = x.shape
    if how == "none":
        return x[:, None]  # (B, 1, T, H*D)
    if how == "reshape":
        return x.reshape(batch, n_heads, length, -1)
    if how == "interleaved":
        return x.reshape(batch, length, -1, n_heads).permute(0, 3, 1, 2)
    return x.reshape(batch, length, n_heads, -1).transpose(1, 2)


def merge_heads(x: Tensor, how: str) -> Tensor:
    """(B, H, T, D) to (B, T, H*D): right, reshape (no transpose), or interleaved."""
    batch, _, length, _ = x.shape
    if how == "reshape":
        return x.reshape(batch, length, -1)
    if how == "interleaved":
        return x.permute(0, 2, 3, 1).reshape(batch, length, -1)
    return x.transpose(1, 2).reshape(batch, length, -1)


def share_heads(kv: Tensor, n_heads: int, how: str) -> Tensor:
    """(B, H_kv, S, D) to (B, H, S, D): repeat (right), tile, first, mean, reversed, or tokens (the
    sequence is tiled in a layout (B, S, H_kv, D), and heads are made of the surplus)."""
    group = n_heads // kv.shape[1]
    if how == "tokens":
        copies = kv.transpose(1, 2).repeat(1, group, 1, 1)  # (B, G*S, H_kv, D)
        return copies.reshape(kv.shape[0], -1, n_heads, kv.shape[-1]).transpose(1, 2)
    if how == "tile":
        return kv.repeat(1, group, 1, 1)
    if how == "first":
        return kv[:, :1].expand(-1, n_heads, -1, -1)
    if how == "mean":
        return kv.mean(dim=1, keepdim=True).expand(-1, n_heads, -1, -1)
    if how == "reversed":
        kv = kv.flip(1)
    return kv.repeat_interleave(group, dim=1)


def causal_mask(how: str, length: int, positions: Tensor | None, device: torch.device) -> Tensor:
    """bool (T, T): right, missing, one-ahead, hides-self, reversed (itself and later ones),
    inverted (later ones alone), or by-position (by the positions, not the index)."""
    place = torch.arange(length, device=device)  # (T,)
    keys, queries = place, place[:, None]  # (T,), (T, 1)
    if how == "by-position" and positions is not None:
        keys, queries = positions, positions[:, None]
    return {
        "right": lambda: keys <= queries,
        "by-position": lambda: keys <= queries,
        "missing": lambda: (keys >= 0) & (queries >= 0),
        "one-ahead": lambda: keys <= queries + 1,
        "hides-self": lambda: keys < queries,
        "reversed": lambda: keys >= queries,
        "inverted": lambda: keys > queries,
    }[how]()


def project(
    x: Tensor, weights: tuple[Tensor, Tensor, Tensor], transposed: str, roles: str, values: str
) -> tuple[Tensor, Tensor, Tensor]:
    """q (B, T, H*D), k and v (B, T, H_kv*D).

    transposed  none, or x @ w: all, or query, key or value alone
    roles       right, kv-swapped, qk-swapped, keys-as-values, queries-as-keys
    values      projected, or input: x itself
    """
    q, k, v = (
        x @ (w if transposed in ("all", which) else w.T)
        for w, which in zip(weights, ("query", "key", "value"), strict=True)
    )
    q, k, v = {
        "right": (q, k, v),
        "kv-swapped": (q, v, k),
        "qk-swapped": (k, q, v),
        "keys-as-values": (q, k, k),
        "queries-as-keys": (q, q, v),
    }[roles]
    return q, k, x if values == "input" else v


def _sliced(heads: Tensor, n_kv_heads: int, softmax: str) -> Tensor:
    """(B, H, T, D), H being (H_kv, G), with the key/value heads (kv-heads) or the heads of one
    group in place of the heads axis, and the other among the batch."""
    batch, _, length, width = heads.shape
    heads = heads.reshape(batch, n_kv_heads, -1, length, width)  # (B, H_kv, G, T, D)
    if softmax == "kv-heads":
        heads = heads.transpose(1, 2)  # (B, G, H_kv, T, D)
    return heads.flatten(end_dim=1)


def _joined(mixed: Tensor, batch: int, softmax: str) -> Tensor:
    """What `_sliced` took apart: (B, H, T, D)."""
    mixed = mixed.reshape(batch, -1, *mixed.shape[1:])  # (B, G, H_kv, T, D) or (B, H_kv, G, T, D)
    if softmax == "kv-heads":
        mixed = mixed.transpose(1, 2)  # (B, H_kv, G, T, D)
    return mixed.flatten(1, 2)


def attend(
    q: Tensor, k: Tensor, v: Tensor, allow: Tensor, n_kv_heads: int, **switches: Any
) -> Tensor:
    """`core.attend`, whose `softmax` may also be over part of the heads: kv-heads or group."""
    softmax = switches.get("softmax", "keys")
    if softmax not in ("kv-heads", "group"):
        return core.attend(q, k, v, allow, **switches)
    batch = q.shape[0]
    q, k, v = (_sliced(heads, n_kv_heads, softmax) for heads in (q, k, v))
    mixed = core.attend(q, k, v, allow, **{**switches, "softmax": "heads"})
    return _joined(mixed, batch, softmax)


def attention_layer(
    x: Tensor,
    weights: tuple[Tensor, Tensor, Tensor],
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    positions: Tensor | None = None,
    base: float = 10000.0,
    *,
    batch: str = "first",
    transposed: str = "none",
    roles: str = "right",
    values: str = "projected",
    output: str = "projected",
    split: str = "right",
    kv_split: str | None = None,
    merge: str = "right",
    share: str = "repeat",
    rotated: str = "queries-keys",
    causal: str = "right",
    **switches: Any,
) -> Tensor:
    """Causal attention of x (B, T, d), to (B, T, d); rotated where `positions` (T,) are given.

    batch     first, or sequence: axis 0 taken for the sequence
    output    projected, or none: w_o forgotten; `transposed` has output too: only w_o
    split     `split_heads`, kv_split for k and v alone; merge: `merge_heads`
    share     `share_heads`
    rotated   queries-keys, queries, keys, all (the values too), before-split, or none
    causal    `causal_mask`
    The rest are switches of `project`, of `attend`, and of `apply_rope`.
    """
    turns = {name: switches.pop(name) for name in ROPE_SWITCHES & switches.keys()}

    def rotate(features: Tensor, *parts: str) -> Tensor:
        if positions is None or rotated not in parts:
            return features
        return apply_rope(features, positions, base, **turns)

    if batch == "sequence":
        x = x.transpose(0, 1)
    q, k, v = project(x, weights, transposed, roles, values)
    q = rotate(q[:, None], "before-split")[:, 0]  # (B, T, H*D)
    k = rotate(k[:, None], "before-split")[:, 0]  # (B, T, H_kv*D)
    q = split_heads(q, n_heads, split)  # (B, H, T, D)
    k = split_heads(k, n_kv_heads, kv_split or split)  # (B, H_kv, T, D)
    v = split_heads(v, n_kv_heads, kv_split or split)  # (B, H_kv, T, D)
    q = rotate(q, "queries-keys", "queries", "all")
    k = rotate(k, "queries-keys", "keys", "all")
    v = rotate(v, "all")
    if split != "none":
        k, v = share_heads(k, n_heads, share), share_heads(v, n_heads, share)  # (B, H, T, D)
    allow = causal_mask(causal, x.shape[1], positions, x.device)  # (T, T)
    width = x.shape[-1]
    mixed = attend(q, k, v, allow, n_kv_heads, model_width=width, **switches)  # (B, H, T, D)
    out = merge_heads(mixed, merge)  # (B, T, H*D)
    if output == "projected":
        out = out @ (w_o if transposed in ("all", "output") else w_o.T)  # (B, T, d)
    return out.transpose(0, 1) if batch == "sequence" else out
