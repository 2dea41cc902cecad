"""The family of the attention block."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import core, gqa, rope
from reference.mistakes.projected import attention_layer


def attention_block(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    positions: Tensor,
    base: float = 10000.0,
    **switches: Any,
) -> Tensor:
    """The attention block with the switches of `projected.attention_layer`.

    Arguments and result as `reference.block.attention_block`.
    """
    return attention_layer(
        x, (w_q, w_k, w_v), w_o, n_heads, n_kv_heads, positions, base, **switches
    )


# Attention sees differences of positions only: a shift of them all is no mistake here.
_ROTATION = (
    "rope-interleaved",
    "rope-mixed",
    "rope-clockwise",
    "rope-sign-lost",
    "rope-twice",
    "rope-exponent-halved",
    "rope-exponent-doubled",
    "rope-exponent-from-one",
    "rope-exponent-sign",
    "rope-one-frequency",
    "rope-base-ignored",
    "rope-positions-ignored",
    "rope-positions-sorted",
    "rope-positions-bfloat16",
    "rope-angles-bfloat16",
    "rope-angles-rounded-bfloat16",
)

MISTAKES: core.Mistakes = {
    "attention_block": {
        **gqa.SHARED,
        **{name: rope.MISTAKES["apply_rope"][name] for name in _ROTATION},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-by-key-count": {"scale": "keys"},
        "rope-missing": {"rotated": "none"},
        "rope-keys-unrotated": {"rotated": "queries"},
        "rope-queries-unrotated": {"rotated": "keys"},
        # Rotated as they are by then.
        "keys-as-values": {"roles": "keys-as-values", "rotated": "all"},
        "rope-on-values": {"rotated": "all"},
        "rope-before-split": {"rotated": "before-split"},
        "causal-by-position": {"causal": "by-position"},
    }
}
