"""The families of `causal-mask` and `padding-mask`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core


def causal_mask(
    t: int,
    s: int,
    *,
    align: str = "bottom-right",
    edge: int = 0,
    direction: str = "past",
    polarity: str = "attend",
    past: str = "seen",
) -> Tensor:
    """The causal mask, bool (t, s).

    align      bottom-right, top-left (query i at position i) or negated (at t - s + i)
    edge       how many positions after itself a query sees: 0, -1 hides itself, 1 sees one ahead
    direction  past, future (itself and later ones), self (nothing else) or both
    polarity   attend, or hide: True where it may not attend
    past       seen, or hidden: the s - t keys before the first query
    """
    offset = {"bottom-right": s - t, "top-left": 0, "negated": t - s}[align]
    queries = torch.arange(t)[:, None] + offset + edge  # (t, 1)
    keys = torch.arange(s)  # (s,)
    allow = {
        "past": lambda: keys <= queries,
        "future": lambda: keys >= queries,
        "self": lambda: keys == queries,
        "both": lambda: torch.ones(t, s, dtype=torch.bool),
    }[direction]()  # (t, s)
    if past == "hidden":
        allow = allow & (keys >= s - t)
    return allow if polarity == "attend" else ~allow


def tokens(padding: str, lengths: Tensor, length: int) -> Tensor:
    """bool (B, T): which of `length` positions are taken for tokens; see `padded_attention`."""
    place = torch.arange(length, device=lengths.device)  # (T,)
    n = lengths[:, None]  # (B, 1)
    return {
        "keys": lambda: place < n,
        "one-too-many": lambda: place <= n,
        "one-short": lambda: place < n - 1,
        "one-short-of-several": lambda: place < (n - 1).clamp(min=1),
        "at-least-one": lambda: place < n.clamp(min=1),
        "left": lambda: place >= length - n,
        "inverted": lambda: place >= n,
        "longest": lambda: place < n.max().expand_as(n),
        "first": lambda: place < n[:1].expand_as(n),
        "ignored": lambda: (place >= 0).expand(len(n), -1),
    }[padding]()


def padded_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    *,
    padding: str = "keys",
    padded_queries: str = "computed",
    causal: str = "no",
    empty_sequences: str = "attended",
    **switches: Any,
) -> Tensor:
    """Attention over a padded batch, with the switches of `core.attend` too.

    padding         keys (hidden from the length on); one-too-many, one-short; left (the first
                    T - length); inverted (the tokens hidden); queries (rows in place of keys);
                    longest, first (one length for all); ignored; zeroed (k and v, no mask);
                    one-short-of-several, at-least-one (a length of 1, or of 0, is left at 1)
    padded_queries  computed, or zero
    causal          no, or yes
    empty_sequences attended, as the rest makes it; or zeroed in the end: not a mistake
    """
    length = k.shape[-2]
    place = torch.arange(length, device=k.device)  # (T,)
    n = lengths[:, None]  # (B, 1)
    token = tokens("keys" if padding in ("queries", "zeroed") else padding, lengths, length)
    allow = token[:, None, :, None] if padding == "queries" else token[:, None, None, :]
    if padding == "zeroed":
        k = k * token[:, None, :, None]  # (B, H, T, D)
        v = v * token[:, None, :, None]  # (B, H, T, D)
        allow = torch.ones_like(allow)
    if causal == "yes":
        allow = allow & (place <= place[:, None])
    out = core.attend(q, k, v, allow, **switches)  # (B, H, T, D)
    if padded_queries == "zero":
        out = out.masked_fill((place >= n)[:, None, :, None], 0.0)
    if empty_sequences == "zeroed":
        out = out.masked_fill((lengths == 0)[:, None, None, None], 0.0)
    return out


def _padded(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The mistake in code that zeroes the rows of empty sequences by their length.

    Such code may leave anything in rows of others that see nothing because of the mistake.
    """
    outcome = "softmax" in switches and "empty" in switches  # of what is hidden throughout
    if switches.get("padding") == "at-least-one":
        return  # mended by it
    if "padding" in switches or switches.get("masking") == "added" or outcome:
        yield {**switches, "empty_sequences": "zeroed"}
    if switches.get("padding") in ("inverted", "one-short", "queries"):
        for empty in ("nan", "mean", "added"):
            yield {**switches, "empty": empty, "empty_sequences": "zeroed"}


READINGS = {"padded_attention": _padded}
"""Other readings that a family of its own has, beside those of `reference.mistakes.readings`."""


MISTAKES: core.Mistakes = {
    "causal_mask": {
        "causal-mask-top-left": {"align": "top-left"},
        "causal-mask-offset-negated": {"align": "negated"},
        "causal-mask-hides-self": {"edge": -1},
        "causal-mask-one-ahead": {"edge": 1},
        "causal-mask-reversed": {"direction": "future"},
        "causal-mask-self-only": {"direction": "self"},
        "causal-mask-all-visible": {"direction": "both"},
        "causal-mask-inverted": {"polarity": "hide"},
        "causal-mask-past-hidden": {"past": "hidden"},
    },
    "padded_attention": {
        "padding-ignored": {"padding": "ignored"},
        "padding-inverted": {"padding": "inverted"},
        "padding-masks-queries": {"padding": "queries"},
        "padding-one-too-many": {"padding": "one-too-many"},
        "padding-one-short": {"padding": "one-short"},
        "padding-one-short-of-several": {"padding": "one-short-of-several"},
        "padding-at-least-one": {"padding": "at-least-one"},
        "padding-left": {"padding": "left"},
        "padding-longest": {"padding": "longest"},
        "padding-first-length": {"padding": "first"},
        "padding-zeroed": {"padding": "zeroed"},
        "padded-queries-zeroed": {"padded_queries": "zero"},
        "padding-causal-added": {"causal": "yes"},
        "mask-after-softmax": {"masking": "after"},
        "mask-fill-zero": {"masking": "zero"},
        "mask-fill-weak": {"masking": "weak"},
        "mask-fill-weak-added": {"masking": "weak-added"},
        "mask-added": {"masking": "added"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-over-heads": {"softmax": "heads"},
        "softmax-over-batch": {"softmax": "batch"},
        "softmax-overflow": {"form": "naive"},
        "softmax-overflow-zero": {"form": "naive-zero"},
        "empty-rows-nan": {"empty": "nan"},
        "empty-rows-mean": {"empty": "mean"},
        "empty-rows-see-all": {"empty": "all"},
    },
}
