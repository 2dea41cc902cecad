"""The family of `fused-attention`: shared heads, and the tiles of `flash-attention`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from reference.mistakes.core import Mistakes
from reference.mistakes.flash_attention import MISTAKES as FLASH
from reference.mistakes.flash_attention import flash_attention
from reference.mistakes.gqa import SHARING
from reference.mistakes.projected import share_heads

BLOCK = 64
BLOCKS = (16, 32, 48, 96, 128)
"""Other sizes that kernels choose."""

PADDED = 256
"""One more, where a block is filled up: few of the cases have as many keys, so that no
other mistake in blocks of that size can be told from one without blocks."""

WHOLE = 1 << 20
"""Block enough for all keys."""

_BY_BLOCK: dict[str, frozenset[str]] = {
    "rescale": frozenset({"total", "output", "neither", "inverted"}),
    "divide": frozenset({"each-block"}),
    "blocks": frozenset({"summed", "averaged", "averaged-all"}),
    "total": frozenset({"last"}),
    "weights": frozenset({"own-max"}),
    "maximum": frozenset({"last"}),
    "unseen": frozenset({"nan", "as-zero"}),
    "rows": frozenset({"whole-tiles"}),
    "visited": frozenset({"queries"}),
    "tail": frozenset(
        {"dropped", "dropped-but-one", "in-reach", "in-reach-but-one", "zero-padded"}
    ),
    "mask": frozenset(
        {
            "in-tile",
            "in-tile-in-reach",
            "column-in-block",
            "whole-tiles",
            "same-tile-count",
            "before-diagonal",
            "whole-before-diagonal",
            "whole-before-tile-end",
            "fewer-tiles",
        }
    ),
    "weights_in": frozenset({"bfloat16", "float16", "bfloat16 product", "float16 product"}),
    "used": frozenset({"whole-splits", "whole-splits-or-all"}),
    "past": frozenset({"zeros"}),
}
"""Switches and values whose numbers hang on the size of a block."""

_BY_AHEAD: dict[str, frozenset[str]] = {
    "divide": frozenset({"each-block"}),
    "total": frozenset({"last"}),
    "maximum": frozenset({"last"}),
    "order": frozenset({"backwards"}),
}
"""Those that hang on whether blocks wholly in the future are visited."""

_ZERO = {"unseen": "guarded", "divide": "guarded"}


def first_sequence(kv: Tensor, whose: str) -> Tensor:
    """(B, H_kv, S, D) of each sequence: own; or first, the batch's first for all of them."""
    return kv if whose == "own" else kv[:1].expand_as(kv)


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: bool,
    *,
    block: int = BLOCK,
    share: str = "repeat",
    sequence: str = "own",
    **switches: Any,
) -> Tensor:
    """Attention of q (B, H, T, D) over k, v (B, H_kv, S, D) in tiles; as the reference.

    block     queries, and keys, of a tile; no mistake by itself
    share     `projected.share_heads`
    sequence  whose keys and values are read: `first_sequence`
    The rest are switches of `flash_attention.flash_attention`.
    """
    k, v = (share_heads(first_sequence(x, sequence), q.shape[1], share) for x in (k, v))
    return flash_attention(q, k, v, block, causal, **switches)  # (B, H, T, D)


def by_block(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The mistake in blocks of other sizes, where that makes other numbers."""
    if "weights_in" in switches:
        yield {**switches, "block": WHOLE}
    if hangs_on_block(switches):
        padded = switches.get("tail") == "zero-padded" or switches.get("past") == "zeros"
        for block in (*BLOCKS, *([PADDED] if padded else [])):
            yield {**switches, "block": block}


def by_tile(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """As `by_block`; and in a loop that ends where nothing more is seen, or that leaves zeros, not
    NaN, where nothing was."""
    yield from by_block(switches)
    if hangs_on_hidden(switches):
        for one in (switches, *by_block(switches)):
            yield {**one, "ahead": "skipped"}
    if str(switches.get("mask")).startswith(("whole-before", "fewer")):
        for one in (switches, *by_block(switches)):
            yield {**one, **_ZERO}


def hangs_on_hidden(switches: Mapping[str, object]) -> bool:
    """Whether it makes other numbers to skip the blocks of which nothing is seen."""
    return _hangs(switches, _BY_AHEAD)


def hangs_on_block(switches: Mapping[str, object]) -> bool:
    """Whether blocks of another size make other numbers."""
    return _hangs(switches, _BY_BLOCK)


def _hangs(switches: Mapping[str, object], on: Mapping[str, frozenset[str]]) -> bool:
    return any(value in on.get(name, ()) for name, value in switches.items())


READINGS = {"fused_attention": by_tile}
"""As in `reference.mistakes.masks`."""

# What a kernel adds to the mistakes of tiles, whatever it attends to.
KERNEL: dict[str, dict[str, object]] = {
    **SHARING,
    "kv-first-sequence-for-all": {"sequence": "first"},
    "scale-by-padded-width": {"scale": "padded"},
    "exp-of-base-two-scores": {"base": "e-of-two"},
    "weights-half-precision": {"weights_in": "bfloat16"},
}

MISTAKES: Mistakes = {
    "fused_attention": {
        **FLASH["flash_attention"],
        **KERNEL,
        "flash-diagonal-block-skipped": {"mask": "before-diagonal", "unseen": "nan"},
    }
}
