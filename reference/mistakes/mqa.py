"""The family of `mqa`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core


def _allowed(causal: str, align: str, past: str, t: int, s: int, device: torch.device) -> Tensor:
    """bool (T, S): who may attend to whom; see `mqa`."""
    offset = {"bottom-right": s - t, "top-left": 0, "negated": t - s}[align]
    queries = torch.arange(t, device=device)[:, None] + offset  # (T, 1)
    keys = torch.arange(s, device=device)  # (S,)
    allow = {
        "right": lambda: keys <= queries,
        "missing": lambda: torch.ones(t, s, dtype=torch.bool, device=device),
        "one-ahead": lambda: keys <= queries + 1,
        "hides-self": lambda: keys < queries,
        "reversed": lambda: keys >= queries,
        "inverted": lambda: keys > queries,
    }[causal]()
    return allow & (keys >= s - t) if past == "hidden" else allow


def mqa(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: str = "right",
    align: str = "bottom-right",
    past: str = "seen",
    heads: str = "each",
    rows: str = "right",
    roles: str = "right",
    **switches: Any,
) -> Tensor:
    """Causal multi-query attention, with the switches of `core.attend` too.

    causal  right, missing, one-ahead, hides-self, reversed (itself and later), inverted (later)
    align   bottom-right, top-left (query i at position i) or negated (at T - S + i)
    past    seen, or hidden: the S - T keys before the first query
    heads   each; mean: one query a position, the mean over the heads; first: head 0 for all
    rows    with the heads folded into H*T rows, head by head: right; mask-repeated (row r gets the
            mask's row r // H); unfolded (the result read back position by position)
    roles   right, or keys-as-values
    Arguments and result as `reference.mqa.mqa`.
    """
    batch, n_heads, t, width = q.shape
    if heads != "each":
        one = q.mean(dim=1, keepdim=True) if heads == "mean" else q[:, :1]  # (B, 1, T, D)
        q = one.expand(-1, n_heads, -1, -1)  # (B, H, T, D)
    allow = _allowed(causal, align, past, t, k.shape[-2], q.device)[None]  # (1, T, S)
    if rows == "mask-repeated":
        allow = allow.repeat_interleave(n_heads, dim=1).view(n_heads, t, -1)  # (H, T, S)
    values = v if roles == "right" else k  # (B, 1, S, D)
    shape = (-1, n_heads, -1, -1)
    out = core.attend(q, k.expand(shape), values.expand(shape), allow, **switches)  # (B, H, T, D)
    if rows == "unfolded":
        return out.reshape(batch, t, n_heads, width).transpose(1, 2)
    return out


MISTAKES: core.Mistakes = {
    "mqa": {
        "causal-mask-top-left": {"align": "top-left"},
        "causal-mask-offset-negated": {"align": "negated", "empty": "nan"},
        "causal-mask-offset-negated-mean": {"align": "negated", "empty": "mean"},
        "causal-mask-past-hidden": {"past": "hidden"},
        **core.CAUSAL,
        **core.MASKING,
        "mask-fill-weak-added": {"masking": "weak-added"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-by-model-width": {"scale": "model-width"},
        "scale-by-n-heads": {"scale": "heads"},
        "scale-by-key-count": {"scale": "keys"},
        "scale-by-query-count": {"scale": "queries"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-over-batch": {"softmax": "batch"},
        "softmax-overflow": {"form": "naive"},
        "softmax-overflow-zero": {"form": "naive-zero"},
        "softmax-twice": {"form": "twice"},
        "keys-as-values": {"roles": "keys-as-values"},
        "mqa-query-heads-averaged": {"heads": "mean"},
        "mqa-first-query-head": {"heads": "first"},
        "mqa-mask-rows-interleaved": {"rows": "mask-repeated"},
        "mqa-rows-unfolded-wrongly": {"rows": "unfolded"},
    }
}
