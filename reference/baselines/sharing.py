"""Other ways to write `mqa`, `cross-attention` and `sliding-window`, each with the signature of
its reference."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from reference.baselines import core


def _causal(t: int, s: int, device: torch.device) -> Tensor:
    return torch.ones(t, s, dtype=torch.bool, device=device).tril(s - t)  # (T, S)


def _mqa(q: Tensor, k: Tensor, v: Tensor, attend: core.Attend) -> Tensor:
    n_heads, (t, s) = q.shape[1], (q.shape[-2], k.shape[-2])
    k, v = k.repeat(1, n_heads, 1, 1), v.repeat(1, n_heads, 1, 1)  # (B, H, S, D)
    return attend(q, k, v, _causal(t, s, q.device))  # (B, H, T, D)


def mqa_per_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A head at a time."""
    return _mqa(q, k, v, core.per_head)


def mqa_tiled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Key blocks with an online softmax."""
    return _mqa(q, k, v, core.tiled)


def mqa_finite_fill(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The least finite number where hidden."""
    return _mqa(q, k, v, core.finite_fill)


def mqa_folded(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The heads are more rows against the one key/value head: one matrix product a sequence."""
    batch, n_heads, t, width = q.shape
    rows = q.reshape(batch, n_heads * t, width) * width**-0.5  # (B, H*T, D)
    hidden = ~_causal(t, k.shape[-2], q.device).repeat(n_heads, 1)  # (H*T, S)
    scores = torch.bmm(rows, k[:, 0].mT).masked_fill(hidden, -torch.inf)  # (B, H*T, S)
    return torch.bmm(scores.softmax(dim=-1), v[:, 0]).view(q.shape)  # (B, H, T, D)


def _lengths_mask(context: Tensor, lengths: Tensor | None) -> Tensor | None:
    if lengths is None:
        return None
    place = torch.arange(context.shape[1], device=context.device)  # (S,)
    return (place < lengths[:, None])[:, None, None, :]  # (B, 1, 1, S)


def _cross(
    x: Tensor,
    context: Tensor,
    weights: tuple[Tensor, Tensor, Tensor, Tensor],
    n_heads: int,
    lengths: Tensor | None,
    attend: core.Attend,
) -> Tensor:
    """Projections by einsum; the output projection is a sum over heads."""
    width = x.shape[-1]
    w_q, w_k, w_v, w_o = weights
    q, k, v = (
        torch.einsum("btd,hed->bhte", source, w.view(n_heads, -1, width))  # (B, H, T or S, D)
        for source, w in ((x, w_q), (context, w_k), (context, w_v))
    )
    mixed = attend(q, k, v, _lengths_mask(context, lengths))  # (B, H, T, D)
    out = x.new_zeros(x.shape)  # (B, T, d)
    for h, w in enumerate(w_o.chunk(n_heads, dim=1)):  # (d, D)
        out = out + mixed[:, h] @ w.T
    return out


def cross_attention_einsum(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
) -> Tensor:
    """Einsum throughout."""
    return _cross(x, context, (w_q, w_k, w_v, w_o), n_heads, context_lengths, core.einsum)


def cross_attention_per_head(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
) -> Tensor:
    """A head at a time."""
    return _cross(x, context, (w_q, w_k, w_v, w_o), n_heads, context_lengths, core.per_head)


def cross_attention_tiled(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
) -> Tensor:
    """Key blocks with an online softmax."""
    return _cross(x, context, (w_q, w_k, w_v, w_o), n_heads, context_lengths, core.tiled)


def cross_attention_per_sequence(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
) -> Tensor:
    """No mask at all: each context is cut to its length; keys and values by one product."""
    batch, full, width = context.shape
    lengths = [full] * batch if context_lengths is None else context_lengths.tolist()
    outs = []
    for b, n in enumerate(lengths):
        q = functional.linear(x[b], w_q).view(-1, n_heads, width // n_heads)  # (T, H, D)
        both = functional.linear(context[b, :n], torch.cat([w_k, w_v]))  # (n, 2d)
        k, v = both.view(n, 2, n_heads, -1).unbind(dim=1)  # (n, H, D)
        scores = torch.einsum("thd,shd->hts", q, k) / q.shape[-1] ** 0.5  # (H, T, n)
        mixed = torch.einsum("hts,shd->thd", torch.softmax(scores, dim=-1), v)  # (T, H, D)
        outs.append(functional.linear(mixed.flatten(start_dim=1), w_o))  # (T, d)
    return torch.stack(outs)  # (B, T, d)


def _band(length: int, window: int, device: torch.device) -> Tensor:
    full = torch.ones(length, length, dtype=torch.bool, device=device)  # (T, T)
    return full.tril() & ~full.tril(-window)


def sliding_window_einsum(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Scaled query, einsum, division after the mixing."""
    return core.einsum(q, k, v, _band(q.shape[-2], window, q.device))


def sliding_window_tiled(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Key blocks with an online softmax."""
    return core.tiled(q, k, v, _band(q.shape[-2], window, q.device))


def sliding_window_finite_fill(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """The least finite number where hidden."""
    return core.finite_fill(q, k, v, _band(q.shape[-2], window, q.device))


def sliding_window_per_query(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """No mask at all: each query meets its slice of the keys."""
    rows = []
    for i in range(q.shape[-2]):
        seen = slice(max(i - window + 1, 0), i + 1)
        scores = (k[:, :, seen] @ q[:, :, i, :, None])[..., 0] * q.shape[-1] ** -0.5  # (B, H, seen)
        weights = torch.softmax(scores, dim=-1)[..., None]  # (B, H, seen, 1)
        rows.append((weights * v[:, :, seen]).sum(dim=-2))  # (B, H, D)
    return torch.stack(rows, dim=2)  # (B, H, T, D)


def sliding_window_unfolded(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Windows gathered from padded keys: T x window scores in place of T x T."""
    length = q.shape[-2]
    window = min(window, length)
    front = (0, 0, window - 1, 0)
    keys = functional.pad(k, front).unfold(2, window, 1)  # (B, H, T, D, window)
    values = functional.pad(v, front).unfold(2, window, 1)  # (B, H, T, D, window)
    scores = torch.einsum("bhtd,bhtdw->bhtw", q, keys) / q.shape[-1] ** 0.5  # (B, H, T, window)
    place = torch.arange(length, device=q.device)[:, None]  # (T, 1)
    missing = place + torch.arange(window, device=q.device) < window - 1  # (T, window)
    weights = torch.softmax(scores.masked_fill(missing, -torch.inf), dim=-1)  # (B, H, T, window)
    return torch.einsum("bhtw,bhtdw->bhtd", weights, values)
