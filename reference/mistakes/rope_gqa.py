"""The family of `debug-gqa-rope`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import core, gqa, rope
from reference.mistakes.projected import ROPE_SWITCHES, causal_mask, share_heads
from reference.mistakes.rope import apply_rope


def rope_gqa(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    *,
    rotated: str = "queries-keys",
    share: str = "repeat",
    causal: str = "right",
    **switches: Any,
) -> Tensor:
    """Rotated grouped-query attention, tokens ahead of heads; as the reference.

    rotated  queries-keys, queries, keys, or all: the values too
    share    `projected.share_heads`
    causal   `projected.causal_mask`
    The rest are switches of `rope.apply_rope` and of `core.attend`.
    """
    turns = {name: switches.pop(name) for name in ROPE_SWITCHES & switches.keys()}
    parts = {
        "queries-keys": (True, True, False),
        "queries": (True, False, False),
        "keys": (False, True, False),
        "all": (True, True, True),
    }[rotated]
    q, k, v = (
        apply_rope(x.transpose(1, 2), positions, base, **turns) if turn else x.transpose(1, 2)
        for x, turn in zip((q, k, v), parts, strict=True)
    )  # (B, H, T, D), (B, H_kv, T, D)
    k, v = share_heads(k, q.shape[1], share), share_heads(v, q.shape[1], share)  # (B, H, T, D)
    allow = causal_mask(causal, q.shape[2], positions, q.device)  # (T, T)
    return core.attend(q, k, v, allow, **switches).transpose(1, 2)  # (B, T, H, D)


_SHARED = (
    "kv-heads-tiled",
    "kv-first-head-for-all",
    "kv-heads-reversed",
    "kv-heads-averaged",
    "scale-none",
    "scale-without-root",
    "scale-by-n-heads",
    "causal-missing",
    "causal-one-ahead",
    "causal-hides-self",
    "causal-reversed",
    "mask-fill-zero",
    "softmax-over-queries",
)
_ROTATION = (
    "rope-interleaved",
    "rope-mixed",
    "rope-clockwise",
    "rope-sign-lost",
    "rope-twice",
    "rope-exponent-halved",
    "rope-exponent-doubled",
    "rope-base-ignored",
    "rope-positions-ignored",
    "rope-angles-bfloat16",
    "rope-angles-rounded-bfloat16",
)

MISTAKES: core.Mistakes = {
    "rope_gqa": {
        "kv-tokens-repeated": {"share": "tokens"},
        **{name: gqa.SHARED[name] for name in _SHARED},
        **{name: rope.MISTAKES["apply_rope"][name] for name in _ROTATION},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-by-key-count": {"scale": "keys"},
        "rope-table-half-split": {"pairing": "table-halves"},
        "rope-keys-unrotated": {"rotated": "queries"},
        "rope-queries-unrotated": {"rotated": "keys"},
        "rope-on-values": {"rotated": "all"},
        "causal-by-position": {"causal": "by-position"},
    }
}
