"""The family of `paged-decode`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core, gqa
from reference.mistakes.projected import share_heads


def gathered(
    pages: Tensor, table: Tensor, read: str, heads: str, lengths: Tensor | None = None
) -> Tensor:
    """(P, page, H_kv, D) to (B, H_kv, S, D), S = max_pages * page.

    read   by-table; physical (page j of every sequence is page j); first-row (one table for all);
           slots-first (the axes of pages and slots exchanged)
    heads  right; or reshape, reshape-page (no transpose; page by page)
    With `-of-used`, of the pages that each of the `lengths` (B,) needs.
    """
    if lengths is not None and "-of-used" in read + heads:
        read, heads = read.removesuffix("-of-used"), heads.removesuffix("-of-used")
        out = pages.new_zeros(
            len(table), pages.shape[2], table.shape[1] * pages.shape[1], pages.shape[3]
        )
        for b, length in enumerate(lengths.tolist()):
            count = -(-length // pages.shape[1])
            own = gathered(pages, table[b : b + 1, :count], read, heads)  # (1, H_kv, <= S, D)
            out[b : b + 1, :, : own.shape[2]] = own
        return out
    batch, count = table.shape
    if read == "physical":
        table = torch.arange(count, device=table.device).expand(batch, count)
    elif read == "first-row":
        table = table[:1].expand(batch, count)
    taken = pages[table]  # (B, max_pages, page, H_kv, D); -1 is the last page
    if read == "slots-first":
        taken = taken.transpose(1, 2)
    flat = taken.flatten(start_dim=1, end_dim=2)  # (B, S, H_kv, D)
    if heads == "reshape-page":
        own = taken.reshape(batch, taken.shape[1], flat.shape[2], taken.shape[2], -1)
        return own.transpose(1, 2).flatten(2, 3)  # (B, H_kv, S, D)
    if heads == "reshape":
        return flat.reshape(batch, flat.shape[2], flat.shape[1], -1)
    return flat.transpose(1, 2)


def visible_slots(how: str, lengths: Tensor, slots: int, page: int) -> Tensor:
    """bool (B, S): which slots the query sees."""
    pages = (lengths + page - 1) // page  # (B,)
    counts = {
        "right": lambda: lengths,
        "whole-pages": lambda: pages * page,
        "all": lambda: 0 * lengths + slots,
        "one-less": lambda: lengths - 1,
        "one-less-of-several": lambda: (lengths - 1).clamp(min=1),
        "one-more": lambda: lengths + 1,
        "one-more-in-page": lambda: torch.minimum(lengths + 1, pages * page),
        "full-pages": lambda: lengths // page * page,
        "full-pages-or-first": lambda: torch.where(lengths < page, lengths, lengths // page * page),
        "first-page": lambda: lengths.clamp(max=page),
        "longest": lambda: lengths.max().expand(len(lengths)),
        "first-length": lambda: lengths[:1].expand(len(lengths)),
    }[how]()  # (B,)
    return torch.arange(slots, device=lengths.device) < counts[:, None]  # (B, S)


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
    roles: str = "right",
    share: str = "repeat",
    **switches: Any,
) -> Tensor:
    """One decoding step over pages; as the reference.

    read, heads  `gathered`
    visible      `visible_slots`
    roles        right, keys-as-values, or swapped: keys and values exchanged
    share        `projected.share_heads`
    The rest are switches of `core.attend`.
    """
    keys, values = (
        gathered(pages, block_table, read, heads, lengths) for pages in (k_pages, v_pages)
    )
    if roles == "swapped":
        keys, values = values, keys
    keys = share_heads(keys, q.shape[1], share)  # (B, H, S, D)
    values = keys if roles == "keys-as-values" else share_heads(values, q.shape[1], share)
    allow = visible_slots(visible, lengths, keys.shape[2], k_pages.shape[1])  # (B, S)
    return core.attend(q, keys, values, allow[:, None, None, :], **switches)  # (B, H, 1, D)


MISTAKES: core.Mistakes = {
    "paged_decode": {
        "paged-table-ignored": {"read": "physical"},
        "paged-table-first-row": {"read": "first-row"},
        "paged-slots-before-pages": {"read": "slots-first"},
        "paged-last-page-whole": {"visible": "whole-pages"},
        "paged-unused-entries-read": {"visible": "all"},
        "paged-last-token-missed": {"visible": "one-less", "empty": "nan"},
        "paged-last-token-missed-mean": {"visible": "one-less", "empty": "mean"},
        "paged-last-of-several-missed": {"visible": "one-less-of-several"},
        "paged-one-token-more": {"visible": "one-more"},
        "paged-one-token-more-in-page": {"visible": "one-more-in-page"},
        "paged-partial-page-dropped": {"visible": "full-pages", "empty": "nan"},
        "paged-partial-page-dropped-zero": {"visible": "full-pages"},
        "paged-partial-page-dropped-after-first": {"visible": "full-pages-or-first"},
        "paged-first-page-only": {"visible": "first-page"},
        "paged-longest-for-all": {"visible": "longest"},
        "paged-first-length-for-all": {"visible": "first-length"},
        "paged-heads-without-transpose": {"heads": "reshape"},
        "paged-pools-swapped": {"roles": "swapped"},
        "keys-as-values": {"roles": "keys-as-values"},
        **gqa.SHARING,
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-by-model-width": {"scale": "model-width"},
        "mask-after-softmax": {"masking": "after"},
        "mask-fill-zero": {"masking": "zero"},
        "mask-fill-weak": {"masking": "weak"},
        "weights-unnormalised": {"form": "unnormalised"},
        "softmax-overflow": {"form": "naive"},
    }
}
