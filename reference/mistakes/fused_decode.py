"""The families of `fused-decode` and `paged-decode-kernel`: one query a sequence, and over its keys
the tiles of `flash-attention`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from reference.mistakes.core import Mistakes
from reference.mistakes.flash_attention import MISTAKES as FLASH
from reference.mistakes.flash_attention import flash_attention
from reference.mistakes.fused_attention import (
    BLOCK,
    KERNEL,
    WHOLE,
    by_tile,
    first_sequence,
    hangs_on_block,
    hangs_on_hidden,
)
from reference.mistakes.paged import gathered, visible_slots
from reference.mistakes.projected import share_heads

PAGES = (2, 3, 4, 8, WHOLE)
"""In a block, where that is not one."""


def _used(how: str, lengths: Tensor, slots: int, block: int) -> Tensor:
    """bool (B, S): the slots that a sequence's query sees.

    right; ignored; inverted; one-too-many, one-short, one-short-of-several (at least 1); left (the
    last slots in place of the first); longest and first (one length for all); whole-splits, and
    whole-splits-or-all (the last, partial split of a length is dropped, in the second where it is
    not the only one).
    """
    slot = torch.arange(slots, device=lengths.device)  # (S,)
    if how == "inverted":
        return slot >= lengths[:, None]
    if how == "left":
        return slot >= slots - lengths[:, None]
    whole = lengths // block * block  # (B,)
    counts = {
        "right": lambda: lengths,
        "ignored": lambda: 0 * lengths + slots,
        "one-too-many": lambda: lengths + 1,
        "one-short": lambda: lengths - 1,
        "one-short-of-several": lambda: (lengths - 1).clamp(min=1),
        "longest": lambda: lengths.max().expand(len(lengths)),
        "first": lambda: lengths[:1].expand(len(lengths)),
        "whole-splits": lambda: whole,
        "whole-splits-or-all": lambda: torch.where(whole == 0, lengths, whole),
    }[how]()  # (B,)
    return slot < counts[:, None]


def fused_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    lengths: Tensor,
    *,
    block: int = BLOCK,
    used: str = "right",
    parts: int = 0,
    past: str = "hidden",
    share: str = "repeat",
    sequence: str = "own",
    **switches: Any,
) -> Tensor:
    """One decoding step in splits of `block` slots; as the reference.

    block     slots of a split; no mistake by itself
    used      `_used`
    parts     0; or so many splits of S // parts slots, and the rest is not read
    past      hidden; or zeros: in the block in which a length ends, what lies past it is filled
              with zeros that count
    share     `projected.share_heads`
    sequence  whose caches are read: `fused_attention.first_sequence`
    The rest are switches of `flash_attention.flash_attention`.
    """
    slots = k_cache.shape[2]
    if past == "zeros":
        k_cache, v_cache = (_zeros_past(x, lengths, block) for x in (k_cache, v_cache))
        slots, lengths = k_cache.shape[2], (lengths + block - 1) // block * block
    allow = _used(used, lengths, slots, block)  # (B, S)
    if parts:
        allow = allow & (torch.arange(slots, device=q.device) < slots // parts * parts)
    k, v = (
        share_heads(first_sequence(x, sequence), q.shape[1], share) for x in (k_cache, v_cache)
    )  # (B, H, S, D)
    hidden = ~allow[:, None, None, :]  # (B, 1, 1, S)
    return flash_attention(q, k, v, block, hidden=hidden, **switches)  # (B, H, 1, D)


def _zeros_past(kv: Tensor, lengths: Tensor, block: int) -> Tensor:
    """(B, H_kv, S, D) to whole blocks of slots, with zeros where a sequence has no token."""
    kv = pad(kv, (0, 0, 0, -kv.shape[2] % block))  # (B, H_kv, S', D)
    slot = torch.arange(kv.shape[2], device=kv.device)  # (S',)
    return kv.masked_fill((slot >= lengths[:, None])[:, None, :, None], 0.0)


def paged_decode(
    q: Tensor,
    k_pages: Tensor,
    v_pages: Tensor,
    block_table: Tensor,
    lengths: Tensor,
    *,
    read: str = "by-table",
    heads: str = "right",
    visible: str = "right",
    pools: str = "right",
    share: str = "repeat",
    pages_a_block: int = 1,
    **switches: Any,
) -> Tensor:
    """One decoding step page by page; as the reference.

    read, heads  `paged.gathered`
    visible      `paged.visible_slots`
    pools        right, or swapped: keys and values exchanged
    share        `projected.share_heads`
    pages_a_block  no mistake by itself
    The rest are switches of `flash_attention.flash_attention`.
    """
    page = k_pages.shape[1]
    k, v = (
        share_heads(
            gathered(pages, block_table, read, heads, lengths), q.shape[1], share
        )  # (B, H, S, D)
        for pages in ((k_pages, v_pages) if pools == "right" else (v_pages, k_pages))
    )
    hidden = ~visible_slots(visible, lengths, k.shape[2], page)[:, None, None, :]  # (B, 1, 1, S)
    block = page * pages_a_block
    return flash_attention(q, k, v, block, hidden=hidden, **switches)  # (B, H, 1, D)


def by_pages(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The mistake in splits of several pages, in a loop that ends with a sequence's own pages, or
    in code that gives zeros, not NaN, where no slot is left to see."""
    if hangs_on_block(switches):
        for count in PAGES:
            yield {**switches, "pages_a_block": count}
    if hangs_on_hidden(switches):
        yield {**switches, "ahead": "skipped"}
    if switches.get("visible") in ("one-less", "full-pages"):
        yield {**switches, "divide": "guarded"}


READINGS = {"fused_decode": by_tile, "paged_decode": by_pages}
"""As in `reference.mistakes.masks`."""

# What goes wrong from one block, or split, to the next.
TILES = {
    name: FLASH["flash_attention"][name]
    for name in (
        "scale-none",
        "scale-without-root",
        "scale-by-n-heads",
        "keys-as-values",
        "flash-exp2-without-log2e",
        "softmax-overflow",
        "weights-unnormalised",
        "flash-output-not-rescaled",
        "flash-sum-not-rescaled",
        "flash-neither-rescaled",
        "flash-rescale-inverted",
        "flash-divided-each-block",
        "flash-blocks-summed",
        "flash-sum-of-last-block",
        "online-block-not-corrected",
        "flash-max-of-last-block",
        "online-max-starts-at-zero",
        "online-sentinel",
        "flash-sentinel-zero",
        "mask-fill-zero",
        "mask-fill-weak",
    )
}
SPLITS: dict[str, dict[str, object]] = {
    "splits-averaged": {"blocks": "averaged"},
    "splits-averaged-all": {"blocks": "averaged-all"},
    "splits-empty-nan": {"order": "backwards", "unseen": "nan"},
    "merge-empty-as-zero": {"unseen": "as-zero"},
}

MISTAKES: Mistakes = {
    "fused_decode": {
        **TILES,
        **KERNEL,
        **SPLITS,
        "splits-tail-dropped": {"used": "whole-splits", "unseen": "nan"},
        "splits-remainder-unread": {"parts": 4},
        "online-last-block-zero-padded": {"past": "zeros"},
        "padding-ignored": {"used": "ignored"},
        "padding-inverted": {"used": "inverted"},
        "padding-one-too-many": {"used": "one-too-many"},
        "padding-one-short": {"used": "one-short"},
        "padding-one-short-of-several": {"used": "one-short-of-several"},
        "padding-left": {"used": "left"},
        "padding-longest": {"used": "longest"},
        "padding-first-length": {"used": "first"},
    },
    "paged_decode": {
        **TILES,
        **{name: made for name, made in KERNEL.items() if "sequence" not in made},
        **SPLITS,
        "paged-table-ignored": {"read": "physical"},
        "paged-table-first-row": {"read": "first-row"},
        "paged-slots-before-pages": {"read": "slots-first"},
        "paged-last-page-whole": {"visible": "whole-pages"},
        "paged-unused-entries-read": {"visible": "all"},
        "paged-last-token-missed": {"visible": "one-less"},
        "paged-last-of-several-missed": {"visible": "one-less-of-several"},
        "paged-one-token-more": {"visible": "one-more"},
        "paged-one-token-more-in-page": {"visible": "one-more-in-page"},
        "paged-partial-page-dropped": {"visible": "full-pages"},
        "paged-partial-page-dropped-after-first": {"visible": "full-pages-or-first"},
        "paged-first-page-only": {"visible": "first-page"},
        "paged-longest-for-all": {"visible": "longest"},
        "paged-first-length-for-all": {"visible": "first-length"},
        "paged-heads-without-transpose": {"heads": "reshape"},
        "paged-pools-swapped": {"pools": "swapped"},
    },
}
