"""Attention with switches: what people get wrong between the heads' q, k, v and their mixture.

With every switch at its default the result is right. A switch says what the wrong code does, and
the rest is carried out as such code would: NaN and infinities included.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.mistakes.exponent import exp32
from reference.mistakes.readings import LOW, WEAK

Mistakes = dict[str, dict[str, dict[str, object]]]

_SOFTMAX_DIM = {"keys": -1, "queries": -2, "heads": 1, "batch": 0}
_FILL = {"zero": 0.0, **WEAK}


def _scale(how: str, q: Tensor, k: Tensor, v: Tensor, model_width: int) -> float:
    heads, queries, width = q.shape[-3:]
    keys = max(k.shape[-2], 1)
    return {
        "right": 1 / math.sqrt(width),
        "none": 1.0,
        "width": 1 / width,
        "multiplied": math.sqrt(width),
        "model-width": 1 / math.sqrt(model_width),
        "width-by-division": 1 / math.sqrt(model_width / heads),
        "heads": 1 / math.sqrt(heads),
        "queries": 1 / math.sqrt(queries),
        "keys": 1 / math.sqrt(keys),
        "value-width": 1 / math.sqrt(v.shape[-1]),
    }[how]


def _normalise(scores: Tensor, softmax: str, form: str) -> Tensor:
    """The softmax of scores (B, H, T, S) over the axis, or the axes, that `softmax` names."""
    if softmax == "all":
        flat = _normalise(scores.flatten(start_dim=-2), "keys", form)  # (B, H, T*S)
        return flat.view_as(scores)
    dim = _SOFTMAX_DIM[softmax]
    if form in ("naive", "naive-zero"):
        raised = exp32(scores)
        total = raised.sum(dim=dim, keepdim=True)
        if form == "naive-zero":
            total = total.masked_fill(total == 0.0, 1.0)
        return raised / total
    weights = torch.softmax(scores, dim=dim)
    if form == "twice":
        return torch.softmax(weights, dim=dim)
    if form == "unnormalised":
        return torch.exp(scores - scores.amax(dim=dim, keepdim=True))
    return weights


def _weights(
    scores: Tensor, allow: Tensor, softmax: str, form: str, masking: str, empty: str
) -> Tensor:
    """Weights (B, H, T, S) of scaled scores, where `allow` has the same shape."""
    if masking == "ignored":
        return _normalise(scores, softmax, form)
    if masking == "after":
        return _normalise(scores, softmax, form).masked_fill(~allow, 0.0)
    if masking == "added":
        return _normalise(scores + allow.to(scores.dtype), softmax, form)
    if softmax == "all":
        sees_any = allow.flatten(start_dim=-2).any(dim=-1)[..., None, None]  # (B, H, 1, 1)
    else:
        sees_any = allow.any(dim=_SOFTMAX_DIM[softmax], keepdim=True)
    lowest = torch.finfo(scores.dtype).min if empty == "mean" else -torch.inf
    if empty == "added":
        return _normalise(scores - 1e9 * (~allow).to(scores.dtype), softmax, form)
    if masking.startswith("weak-added"):  # a row that sees nothing is moved as a whole
        scores = scores + (~allow).to(scores.dtype) * LOW[masking.removeprefix("weak-added")]
    else:
        hidden = ~allow & sees_any if empty == "all" else ~allow  # (B, H, T, S)
        scores = scores.masked_fill(hidden, {"before": lowest, **_FILL}[masking])
    weights = _normalise(scores, softmax, form)
    if empty == "all":
        return weights
    if empty == "mean":
        if masking.startswith("weak-added"):
            weights = weights.masked_fill(~sees_any, 1 / scores.shape[-1])
        return weights
    return weights.masked_fill(~sees_any, torch.nan if empty == "nan" else 0.0)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allow: Tensor | None,
    *,
    model_width: int | None = None,
    scale: str = "right",
    softmax: str = "keys",
    form: str = "stable",
    masking: str = "before",
    polarity: str = "attend",
    empty: str = "zero",
    mix: str = "right",
) -> Tensor:
    """Attention of q (B, H, T, D), k (B, H, S, D), v (B, H, S, D_v) to (B, H, T, D_v).

    allow     bool, broadcasting to (B, H, T, S), True where a query may attend; or None
    scale     which factor the scores get: see `_scale`
    softmax   the axis normalised: keys, queries, heads, batch, or all (T and S together)
    form      stable, naive (no maximum subtracted), naive-zero (and a sum of 0 read as 1), twice,
              unnormalised
    masking   before the softmax with -inf; zero (or 1e-9) or weak (-1e4) in its place; weak-added
              (-1e4 on top); after, without renormalising; added (as 0 and 1); ignored
    polarity  attend, or hide: the mask read the other way round
    empty     what a softmax that sees nothing gives: zero, nan, mean (a finite fill), added (what
              is left of scores that 1e9 is taken from) or all (as if it saw everything)
    mix       right, or transposed: weights^T @ v
    """
    width = model_width or q.shape[1] * q.shape[-1]
    scores = (q @ k.transpose(-2, -1)) * _scale(scale, q, k, v, width)  # (B, H, T, S)
    if allow is None:
        weights = _normalise(scores, softmax, form)  # (B, H, T, S)
    else:
        allow = allow if polarity == "attend" else ~allow
        weights = _weights(scores, allow.expand_as(scores), softmax, form, masking, empty)
    return (weights if mix == "right" else weights.mT) @ v  # (B, H, T, D_v)


# The ids that several drills share, and the switches that make each.
SCALE: dict[str, dict[str, object]] = {
    "scale-none": {"scale": "none"},
    "scale-without-root": {"scale": "width"},
    "scale-multiplied": {"scale": "multiplied"},
    "scale-by-model-width": {"scale": "model-width"},
    "scale-by-n-heads": {"scale": "heads"},
    "scale-by-key-count": {"scale": "keys"},
}
SOFTMAX: dict[str, dict[str, object]] = {
    "softmax-over-queries": {"softmax": "queries"},
    "softmax-over-all-scores": {"softmax": "all"},
    "softmax-overflow": {"form": "naive"},
    "softmax-twice": {"form": "twice"},
    "weights-unnormalised": {"form": "unnormalised"},
}
MASKING: dict[str, dict[str, object]] = {
    "mask-after-softmax": {"masking": "after"},
    "mask-fill-zero": {"masking": "zero"},
    "mask-fill-weak": {"masking": "weak"},
    "mask-added": {"masking": "added"},
}
# A causal mask hides an entry in every head: a softmax over the heads meets slices that are wholly
# hidden, and what they give depends on the fill.
CAUSAL: dict[str, dict[str, object]] = {
    "causal-missing": {"causal": "missing"},
    "causal-one-ahead": {"causal": "one-ahead"},
    "causal-hides-self": {"causal": "hides-self", "empty": "nan"},
    "causal-hides-self-mean": {"causal": "hides-self", "empty": "mean"},
    "causal-hides-self-zero": {"causal": "hides-self"},
    "causal-reversed": {"causal": "reversed"},
    "causal-inverted": {"causal": "inverted", "empty": "nan"},
    "causal-inverted-mean": {"causal": "inverted", "empty": "mean"},
    "causal-softmax-over-heads": {"softmax": "heads", "empty": "nan"},
    "causal-softmax-over-heads-finite": {"softmax": "heads", "empty": "mean"},
}
