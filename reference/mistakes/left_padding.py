"""The family of `debug-padding`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core
from reference.mistakes.projected import causal_mask


def left_padded_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    *,
    padding: str = "keys",
    causal: str = "right",
    **switches: Any,
) -> Tensor:
    """Causal attention over a left-padded batch, with the switches of `core.attend` too.

    padding  keys (hidden before the first token); one-too-many (the slot before it is seen),
             one-short (the first token is hidden); right (the last T - length); inverted (the
             tokens hidden); queries (rows in place of keys); longest, first (one length for all);
             ignored
    causal   `projected.causal_mask`
    """
    length = k.shape[-2]
    place = torch.arange(length, device=k.device)  # (T,)
    start = length - lengths[:, None]  # (B, 1)
    token = {
        "keys": lambda: place >= start,
        "queries": lambda: place >= start,
        "one-too-many": lambda: place >= start - 1,
        "one-short": lambda: place > start,
        "right": lambda: place < lengths[:, None],
        "inverted": lambda: place < start,
        "longest": lambda: place >= start.min().expand_as(start),
        "first": lambda: place >= start[:1].expand_as(start),
        "ignored": lambda: (place >= 0).expand(len(start), -1),
    }[padding]()  # (B, T)
    shown = token[:, None, :, None] if padding == "queries" else token[:, None, None, :]
    allow = shown & causal_mask(causal, length, None, k.device)  # (B, 1, T, T)
    return core.attend(q, k, v, allow, **switches)  # (B, H, T, D)


MISTAKES: core.Mistakes = {
    "left_padded_attention": {
        "padding-masks-queries": {"padding": "queries"},
        "padding-ignored": {"padding": "ignored"},
        "padding-inverted": {"padding": "inverted"},
        "padding-right": {"padding": "right"},
        "left-padding-one-too-many": {"padding": "one-too-many"},
        "left-padding-one-short": {"padding": "one-short"},
        "padding-longest": {"padding": "longest"},
        "padding-first-length": {"padding": "first"},
        "causal-missing": {"causal": "missing"},
        "causal-one-ahead": {"causal": "one-ahead"},
        "causal-hides-self-zero": {"causal": "hides-self"},
        "causal-reversed": {"causal": "reversed"},
        "causal-softmax-over-heads": {"softmax": "heads", "empty": "nan"},
        "causal-softmax-over-heads-finite": {"softmax": "heads", "empty": "mean"},
        **core.MASKING,
        "mask-fill-weak-added": {"masking": "weak-added"},
        "empty-rows-nan": {"empty": "nan"},
        "empty-rows-mean": {"empty": "mean"},
        "empty-rows-see-all": {"empty": "all"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-twice": {"form": "twice"},
    }
}
