"""The family of `cross-attention`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core, masks, multi_head
from reference.mistakes.projected import merge_heads, split_heads


def _mask(padding: str, lengths: Tensor, queries: int, keys: int) -> Tensor:
    """bool (B, 1, T or 1, S or 1): where attention is allowed by the lengths."""
    if padding == "queries":
        return masks.tokens("keys", lengths, queries)[:, None, :, None]  # (B, 1, T, 1)
    if padding == "both":
        return _mask("queries", lengths, queries, keys) & _mask("keys", lengths, queries, keys)
    return masks.tokens(padding, lengths, keys)[:, None, None, :]  # (B, 1, 1, S)


def cross_attention(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
    *,
    source: str = "context",
    padding: str = "keys",
    causal: str = "no",
    transposed: str = "none",
    roles: str = "right",
    values: str = "projected",
    output: str = "projected",
    split: str = "right",
    kv_split: str | None = None,
    merge: str = "right",
    **switches: Any,
) -> Tensor:
    """Cross-attention, with the switches of `core.attend` too.

    source          of keys and values: the context, or x
    padding         keys; queries (rows of x in place of keys); both, which
                    leaves those rows without a key; zeroed (k and v, no mask);
                    or another of `masks.tokens`
    causal          no, or yes: aligned top left
    transposed      none; all: x @ w; or query, key, value, output: only that one
    roles           right, kv-swapped, qk-swapped, keys-as-values
    values          projected, or input: the context itself
    output          projected, or none: w_o forgotten
    split, kv_split, merge as in `projected`
    Arguments and result as `reference.cross_attention.cross_attention`.
    """
    if source == "x":
        context = x
    if roles == "kv-swapped":
        w_k, w_v = w_v, w_k
    if roles == "qk-swapped":
        w_q, w_k = w_k, w_q
    w_q, w_k, w_v = (
        w.T if transposed in ("all", which) else w
        for w, which in zip((w_q, w_k, w_v), ("query", "key", "value"), strict=True)
    )
    q = split_heads(x @ w_q.T, n_heads, split)  # (B, H, T, D)
    k = split_heads(context @ w_k.T, n_heads, kv_split or split)  # (B, H, S, D)
    mixed = context if values == "input" else context @ w_v.T  # (B, S, d)
    v = k if roles == "keys-as-values" else split_heads(mixed, n_heads, kv_split or split)
    allow: Tensor | None = None
    if context_lengths is not None:
        if padding == "zeroed":
            token = _mask("keys", context_lengths, x.shape[1], k.shape[2]).mT  # (B, 1, S, 1)
            k, v = k * token, v * token  # (B, H, S, D)
        else:
            allow = _mask(padding, context_lengths, x.shape[1], k.shape[2])
    if causal == "yes":
        past = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device).tril()
        allow = past if allow is None else allow & past  # (B, 1, T, S)
    out = merge_heads(core.attend(q, k, v, allow, **switches), merge)  # (B, T, d)
    if output == "none":
        return out
    return out @ (w_o if transposed in ("all", "output") else w_o.T)  # (B, T, d)


_LAYER = (
    *("scale-none", "scale-without-root", "scale-by-model-width", "scale-by-n-heads"),
    *("scale-by-key-count", "softmax-overflow", "softmax-twice", *core.MASKING),
    *("heads-split-without-transpose", "heads-merged-without-transpose", "heads-interleaved"),
    *("output-projection-missing", "kv-weights-swapped", "keys-as-values"),
    "values-unprojected",
)

MISTAKES: core.Mistakes = {
    "cross_attention": {
        **{name: multi_head.SHARED[name] for name in _LAYER},
        "mask-fill-weak-added": {"masking": "weak-added"},
        "softmax-overflow-zero": {"form": "naive-zero"},
        "cross-self-attention": {"source": "x"},
        "cross-qk-weights-swapped": {"roles": "qk-swapped"},
        "cross-causal-added": {"causal": "yes"},
        "cross-queries-masked": {"padding": "queries", "empty": "nan"},
        "cross-queries-masked-mean": {"padding": "queries", "empty": "mean"},
        "cross-queries-masked-too": {"padding": "both", "empty": "nan"},
        "cross-queries-masked-too-mean": {"padding": "both", "empty": "mean"},
        "cross-queries-zeroed": {"padding": "both"},
        "padding-ignored": {"padding": "ignored"},
        "padding-inverted": {"padding": "inverted", "empty": "nan"},
        "padding-inverted-mean": {"padding": "inverted", "empty": "mean"},
        "padding-one-too-many": {"padding": "one-too-many"},
        "padding-one-short": {"padding": "one-short", "empty": "nan"},
        "padding-one-short-mean": {"padding": "one-short", "empty": "mean"},
        "padding-one-short-of-several": {"padding": "one-short-of-several"},
        "padding-longest": {"padding": "longest"},
        "padding-first-length": {"padding": "first"},
        "context-padded-left": {"padding": "left"},
        "padding-zeroed": {"padding": "zeroed"},
        "softmax-over-queries": {"softmax": "queries", "empty": "nan"},
        "softmax-over-queries-finite": {"softmax": "queries", "empty": "mean"},
        "softmax-over-heads": {"softmax": "heads", "empty": "nan"},
        "softmax-over-heads-finite": {"softmax": "heads", "empty": "mean"},
        "softmax-over-batch": {"softmax": "batch"},
        "kv-split-without-transpose": {"kv_split": "reshape"},
        "weights-not-transposed": {"transposed": "all"},
        "query-weight-not-transposed": {"transposed": "query"},
        "key-weight-not-transposed": {"transposed": "key"},
        "value-weight-not-transposed": {"transposed": "value"},
        "output-weight-not-transposed": {"transposed": "output"},
        "heads-split-interleaved": {"split": "interleaved"},
        "heads-merged-interleaved": {"merge": "interleaved"},
    }
}
