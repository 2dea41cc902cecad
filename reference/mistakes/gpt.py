"""The family of `debug-gpt`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference import gpt as right
from reference.mistakes import core
from reference.mistakes.projected import causal_mask, merge_heads, split_heads


def _norm(x: Tensor, gain: Tensor, how: str) -> Tensor:
    """Layer norm of x (B, T, d): right; tokens (over T); unbiased; rms (the mean is left in)."""
    axis = 1 if how == "tokens" else -1
    centred = x if how == "rms" else x - x.mean(dim=axis, keepdim=True)  # (B, T, d)
    count = x.shape[axis] - (how == "unbiased")
    variance = centred.square().sum(dim=axis, keepdim=True) / count
    return centred / torch.sqrt(variance + right.EPSILON) * gain


def _active(x: Tensor, how: str) -> Tensor:
    return {"gelu": lambda: right.gelu(x), "relu": lambda: torch.relu(x), "none": lambda: x}[how]()


def gpt(
    tokens: Tensor,
    embed: Tensor,
    places: Tensor,
    w_qkv: Tensor,
    w_o: Tensor,
    w_up: Tensor,
    w_down: Tensor,
    g_attn: Tensor,
    g_mlp: Tensor,
    g_out: Tensor,
    n_heads: int,
    *,
    position: str = "index",
    norm: str = "right",
    last_norm: str = "kept",
    residual: str = "right",
    activation: str = "gelu",
    layers: str = "each",
    causal: str = "right",
    split: str = "right",
    merge: str = "right",
    **switches: Any,
) -> Tensor:
    """A small GPT; arguments and result as the reference.

    position    index, missing, or one-late (row t + 1 for token t)
    norm        `_norm`; last_norm: kept, or missing
    residual    what the MLP's output is added to: right; normed (the normed stream); missing
    activation  gelu, relu, or none
    layers      each its own weights, or first: all run with those of layer 0
    causal, split, merge as in `projected`; the rest are switches of `core.attend`.
    """
    length, d_model = tokens.shape[1], embed.shape[1]
    allow = causal_mask(causal, length, None, tokens.device)  # (T, T)
    x = embed[tokens]  # (B, T, d)
    if position != "missing":
        start = int(position == "one-late")
        x = x + places[start : start + length]
    for n in range(len(w_qkv)):
        m = 0 if layers == "first" else n
        h = _norm(x, g_attn[m], norm)  # (B, T, d)
        q, k, v = (split_heads(h @ w.T, n_heads, split) for w in w_qkv[m].chunk(3))
        mixed = core.attend(q, k, v, allow, model_width=d_model, **switches)  # (B, H, T, D)
        x = x + merge_heads(mixed, merge) @ w_o[m].T  # (B, T, d)
        h = _norm(x, g_mlp[m], norm)  # (B, T, d)
        out = _active(h @ w_up[m].T, activation) @ w_down[m].T  # (B, T, d)
        x = {"right": x + out, "normed": h + out, "missing": out}[residual]
    x = x if last_norm == "missing" else _norm(x, g_out, norm)
    return x @ embed.T  # (B, T, V)


MISTAKES: core.Mistakes = {
    "gpt": {
        "causal-one-ahead": {"causal": "one-ahead"},
        "scale-by-model-width": {"scale": "model-width"},
        "heads-merged-without-transpose": {"merge": "reshape"},
        "gpt-residual-from-normed": {"residual": "normed"},
        "gpt-residual-missing": {"residual": "missing"},
        "gpt-norm-over-tokens": {"norm": "tokens"},
        "gpt-norm-unbiased": {"norm": "unbiased"},
        "gpt-norm-without-mean": {"norm": "rms"},
        "gpt-last-norm-missing": {"last_norm": "missing"},
        "gpt-positions-missing": {"position": "missing"},
        "gpt-positions-one-late": {"position": "one-late"},
        "gpt-activation-missing": {"activation": "none"},
        "gpt-activation-relu": {"activation": "relu"},
        "gpt-first-layer-for-all": {"layers": "first"},
        "causal-missing": {"causal": "missing"},
        "causal-reversed": {"causal": "reversed"},
        "causal-inverted": {"causal": "inverted", "empty": "nan"},
        "causal-hides-self": {"causal": "hides-self", "empty": "nan"},
        "causal-hides-self-mean": {"causal": "hides-self", "empty": "mean"},
        "heads-split-without-transpose": {"split": "reshape"},
        "softmax-over-queries": {"softmax": "queries"},
        "mask-after-softmax": {"masking": "after"},
        "mask-fill-zero": {"masking": "zero"},
        "scale-none": {"scale": "none"},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-without-root": {"scale": "width"},
        "scale-by-n-heads": {"scale": "heads"},
        "scale-by-key-count": {"scale": "keys"},
    }
}
