"""The family of `attention-backward`."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.mistakes.core import Mistakes
from reference.mistakes.exponent import exp32
from reference.mistakes.readings import WEAK

Gradients = tuple[Tensor, Tensor, Tensor]

# The power of D by which the scores are scaled, and that of d_q and d_k.
_SCALE = {"right": (-0.5, -0.5), "none": (0.0, 0.0), "width": (-1.0, -1.0), "back": (0.0, -0.5)}
_FILL = {"-inf": -torch.inf, **WEAK}


def _visible(how: str, length: int) -> Tensor:
    """bool (T, T), True where the query may attend."""
    queries, keys = torch.arange(length)[:, None], torch.arange(length)  # (T, 1), (T,)
    return {
        "right": lambda: keys <= queries,
        "missing": lambda: (keys >= 0).expand(length, length),
        "one-ahead": lambda: keys <= queries + 1,
        "hides-self": lambda: keys < queries,
        "reversed": lambda: keys >= queries,
    }[how]()


def _row_term(
    how: str, weights: Tensor, d_weights: Tensor, out: Tensor, v: Tensor, d_out: Tensor
) -> Tensor:
    """What is taken from d_weights (B, H, T, T): it broadcasts to that shape."""
    if how in ("missing", "none"):
        return torch.zeros_like(d_weights)
    if how == "unweighted":
        return d_weights.sum(dim=-1, keepdim=True)
    if how == "over-queries":
        return (weights * d_weights).sum(dim=-2, keepdim=True)
    return (d_out * (v if how == "from-values" else out)).sum(dim=-1, keepdim=True)


def _d_scores(
    how: str, weights: Tensor, d_weights: Tensor, row_term: Tensor, visible: Tensor
) -> Tensor:
    """The gradient of the scores (B, H, T, T), before the scale."""
    if how == "diagonal":
        return weights * (1 - weights) * d_weights
    if how == "unweighted":
        return (d_weights - row_term).masked_fill(~visible, 0.0)
    if how == "negated":
        return weights * (row_term - d_weights)
    if how == "unweighted-unmasked":
        return d_weights - row_term
    return weights * (d_weights - row_term)


def _added_up(how: str, pairs: Tensor) -> Tensor:
    """Of pairs (B, H, T, T), what a sum in blocks keeps: all; or, overwritten block by block,
    "last 4": the last 4 queries or what is left of them; "own 4": the keys of the query's block.
    """
    if how == "all":
        return pairs
    which, size = how.split()
    block = torch.arange(pairs.shape[-1]) // int(size)  # (T,)
    kept = block == (block[:, None] if which == "own" else block[-1])  # (T, T) or (T,)
    return torch.where(kept, pairs, 0.0)


def attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    d_out: Tensor,
    *,
    scale: str = "right",
    mask: str = "right",
    fill: str = "-inf",
    recomputed: str = "masked",
    softmax: str = "keys",
    form: str = "stable",
    row_term: str = "right",
    jacobian: str = "right",
    d_weights_from: str = "values",
    scale_q: str = "once",
    scale_k: str = "once",
    d_q_from: str = "keys",
    d_k_from: str = "queries",
    d_v_from: str = "right",
    d_q_sum: str = "all",
    d_k_sum: str = "all",
    d_v_sum: str = "all",
    order: str = "q-first",
) -> Gradients:
    """The gradients d_q, d_k, d_v (B, H, T, D) of causal attention; as the reference.

    scale       right; none; width: 1/D, throughout; or back: in d_q and d_k alone
    mask        see `_visible`; fill: what a hidden score becomes
    recomputed  the weights of the backward pass: masked; or unmasked, from the masked log-sum-exp
    softmax     over the keys, or the queries; form: stable, or naive (no maximum subtracted)
    row_term    see `_row_term`, and none where the Jacobian takes none; jacobian: see `_d_scores`
    d_weights_from  values; or keys in their place
    scale_q, scale_k  the scale in d_q and d_k: once, never, or twice
    d_q_from    keys; queries; or transposed (of the keys)
    d_k_from    queries; keys; or transposed (not transposed where it should be)
    d_v_from    right; transposed; or unnormalised (weights before the division)
    d_q_sum, d_k_sum, d_v_sum  see `_added_up`; for d_q it is the keys that are added up
    order       q-first; k-first; v-first; or reversed (v, k, q)
    """
    forwards, back = (q.shape[-1] ** power for power in _SCALE[scale])
    visible = _visible(mask, q.shape[-2])  # (T, T)
    every = q @ k.transpose(-2, -1) * forwards  # (B, H, T, T)
    scores = every.masked_fill(~visible, _FILL[fill])  # (B, H, T, T)
    axis = -1 if softmax == "keys" else -2
    top = scores.amax(dim=axis, keepdim=True) if form == "stable" else torch.zeros_like(scores)
    raised = exp32(scores - top)  # (B, H, T, T)
    total = raised.sum(dim=axis, keepdim=True)
    weights = raised / total  # (B, H, T, T)
    out = weights @ v  # (B, H, T, D)
    if recomputed == "unmasked":
        raised = exp32(every - top)
        weights = raised / total if form == "naive" else exp32(every - top - total.log())

    d_weights = d_out @ (v if d_weights_from == "values" else k).transpose(-2, -1)  # (B, H, T, T)
    term = _row_term(row_term, weights, d_weights, out, v, d_out)
    d_scores = _d_scores(jacobian, weights, d_weights, term, visible)  # (B, H, T, T)
    by_q = _added_up(d_q_sum, d_scores)  # what meets the keys
    by_k = _added_up(d_k_sum, d_scores.transpose(-2, -1))  # what meets the queries
    if d_q_from == "transposed":
        by_q = d_scores.transpose(-2, -1)
    if d_k_from == "transposed":
        by_k = d_scores
    times = {"once": back, "never": 1.0, "twice": back * back}
    d_q = by_q @ (q if d_q_from == "queries" else k) * times[scale_q]  # (B, H, T, D)
    d_k = by_k @ (k if d_k_from == "keys" else q) * times[scale_k]  # (B, H, T, D)
    mixing = raised if d_v_from == "unnormalised" else weights  # (B, H, T, T)
    by_v = mixing if d_v_from == "transposed" else mixing.transpose(-2, -1)
    d_v = _added_up(d_v_sum, by_v) @ d_out  # (B, H, T, D)
    return {
        "q-first": (d_q, d_k, d_v),
        "k-first": (d_k, d_q, d_v),
        "v-first": (d_v, d_q, d_k),
        "reversed": (d_v, d_k, d_q),
    }[order]


MISTAKES: Mistakes = {
    "attention_backward": {
        "backward-row-term-missing": {"row_term": "missing"},
        "backward-row-term-unweighted": {"row_term": "unweighted"},
        "backward-row-term-over-queries": {"row_term": "over-queries"},
        "backward-row-term-from-values": {"row_term": "from-values"},
        "backward-diagonal-only": {"jacobian": "diagonal", "row_term": "none"},
        "backward-weights-missing": {"jacobian": "unweighted"},
        "backward-weights-missing-unmasked": {"jacobian": "unweighted-unmasked"},
        "backward-scale-forgotten": {"scale_q": "never", "scale_k": "never"},
        "backward-scale-forgotten-on-q": {"scale_q": "never"},
        "backward-scale-forgotten-on-k": {"scale_k": "never"},
        "backward-scale-twice": {"scale_q": "twice", "scale_k": "twice"},
        "backward-scale-twice-on-q": {"scale_q": "twice"},
        "backward-scale-twice-on-k": {"scale_k": "twice"},
        "backward-sign-flipped": {"jacobian": "negated"},
        "backward-dq-overwritten": {"d_q_sum": "own 1"},
        "backward-dk-overwritten": {"d_k_sum": "last 1"},
        "backward-dv-overwritten": {"d_v_sum": "last 1"},
        "scale-none": {"scale": "none", "scale_q": "once", "scale_k": "once"},
        "backward-scale-missing-forwards": {"scale": "back", "scale_q": "once", "scale_k": "once"},
        "scale-without-root": {"scale": "width"},
        "causal-missing": {"mask": "missing"},
        "backward-mask-forgotten": {"recomputed": "unmasked"},
        "causal-one-ahead": {"mask": "one-ahead"},
        "causal-hides-self": {"mask": "hides-self"},
        "causal-reversed": {"mask": "reversed"},
        "mask-fill-weak": {"fill": "weak"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-overflow": {"form": "naive"},
        "backward-dv-transposed": {"d_v_from": "transposed"},
        "backward-dv-unnormalised": {"d_v_from": "unnormalised"},
        "backward-dq-transposed": {"d_q_from": "transposed"},
        "backward-dk-transposed": {"d_k_from": "transposed"},
        "backward-q-and-k-exchanged": {"d_q_from": "queries", "d_k_from": "keys"},
        "backward-keys-as-values": {"d_weights_from": "keys"},
        "backward-returned-k-first": {"order": "k-first"},
        "backward-returned-v-first": {"order": "v-first"},
        "backward-returned-reversed": {"order": "reversed"},
    }
}
