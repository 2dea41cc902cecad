"""Other ways to write causal multi-head attention in NumPy."""

from __future__ import annotations

import numpy as np

from reference.numpy_attention import Array


def causal_mha_numpy_einsum(
    X: Array, Wq: Array, Wk: Array, Wv: Array, Wo: Array, n_heads: int
) -> Array:
    """Einsum throughout, the division last, -1e30 where hidden."""
    length, width = X.shape
    d_head = width // n_heads
    q, k, v = (
        np.einsum("td,dhe->hte", X, W.reshape(width, n_heads, d_head)) for W in (Wq, Wk, Wv)
    )  # (H, T, D)
    scale = X.dtype.type(d_head**-0.5)
    scores = np.einsum("hte,hse->hts", q * scale, k)  # (H, T, T)
    scores = scores + np.triu(np.full((length, length), -1e30, dtype=X.dtype), k=1)
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))  # (H, T, T)
    mixed = np.einsum("hts,hse->hte", raised, v) / raised.sum(axis=-1)[..., None]  # (H, T, D)
    out: Array = np.einsum("hte,hed->td", mixed, Wo.reshape(n_heads, d_head, width))  # (T, d)
    return out


def causal_mha_numpy_per_head(
    X: Array, Wq: Array, Wk: Array, Wv: Array, Wo: Array, n_heads: int
) -> Array:
    """A head at a time; the output projection is a sum over heads."""
    length, width = X.shape
    d_head = width // n_heads
    out = np.zeros_like(X)  # (T, d)
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        q, k, v = X @ Wq[:, own], X @ Wk[:, own], X @ Wv[:, own]  # (T, D)
        scores = q @ k.T / X.dtype.type(d_head**0.5)  # (T, T)
        scores[~np.tri(length, dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))  # (T, T)
        weights /= weights.sum(axis=1, keepdims=True)
        out += weights @ v @ Wo[own]
    return out


def causal_mha_numpy_rows(
    X: Array, Wq: Array, Wk: Array, Wv: Array, Wo: Array, n_heads: int
) -> Array:
    """A query at a time over the keys up to it: no mask at all."""
    length, width = X.shape
    d_head = width // n_heads
    q, k, v = ((X @ W).reshape(length, n_heads, d_head) for W in (Wq, Wk, Wv))  # (T, H, D)
    merged = np.empty_like(X)  # (T, d)
    for i in range(length):
        scores = (k[: i + 1] * q[i]).sum(axis=-1) / X.dtype.type(d_head**0.5)  # (i+1, H)
        weights = np.exp(scores - scores.max(axis=0))  # (i+1, H)
        weights = weights / weights.sum(axis=0)
        merged[i] = (weights[:, :, None] * v[: i + 1]).sum(axis=0).reshape(width)
    out: Array = merged @ Wo  # (T, d)
    return out
