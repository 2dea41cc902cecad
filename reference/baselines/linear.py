"""Other ways to write `linear-attention`, in the dtype of its inputs throughout."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import elu


def _features(x: Tensor) -> Tensor:
    """elu(x) + 1, without the sum where x is negative."""
    return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))


def linear_attention_running(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One state, token by token, with an epsilon in the normaliser."""
    q, k = elu(q) + 1, elu(k) + 1  # (B, H, T, D)
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])  # (B, H, D, D_v)
    key_sum = torch.zeros_like(q[:, :, 0])  # (B, H, D)
    rows = []
    for t in range(q.shape[2]):
        state = state + k[:, :, t, :, None] * v[:, :, t, None, :]
        key_sum = key_sum + k[:, :, t]
        mixed = (q[:, :, t, :, None] * state).sum(dim=-2)  # (B, H, D_v)
        rows.append(mixed / ((q[:, :, t] * key_sum).sum(dim=-1, keepdim=True) + 1e-6))
    return torch.stack(rows, dim=2)  # (B, H, T, D_v)


def linear_attention_square(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The weights written out, T x T, and normalised before they mix."""
    products = (_features(q) @ _features(k).mT).tril()  # (B, H, T, T)
    return products / products.sum(dim=-1, keepdim=True) @ v  # (B, H, T, D_v)


def linear_attention_chunks(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Chunks of four: a product within the chunk, a state for what came before."""
    q, k = _features(q), _features(k)  # (B, H, T, D)
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])  # (B, H, D, D_v)
    key_sum = q.new_zeros(*q.shape[:2], q.shape[-1], 1)  # (B, H, D, 1)
    outs = []
    chunks = (torch.split(x, 4, dim=2) for x in (q, k, v))
    for one, keys, values in zip(*chunks, strict=True):
        inside = (one @ keys.mT).tril()  # (B, H, <= 4, <= 4)
        normaliser = inside.sum(dim=-1, keepdim=True) + one @ key_sum  # (B, H, <= 4, 1)
        outs.append((inside @ values + one @ state) / normaliser)
        state = state + keys.mT @ values
        key_sum = key_sum + keys.sum(dim=2)[..., None]
    return torch.cat(outs, dim=2)  # (B, H, T, D_v)


def linear_attention_augmented(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A value of 1 beside the others, whose mixture is the normaliser; sums by cumsum."""
    q, k = elu(q).add(1), elu(k).add(1)  # (B, H, T, D)
    values = torch.cat((v, torch.ones_like(v[..., :1])), dim=-1)  # (B, H, T, D_v + 1)
    state = torch.cumsum(k[..., None] * values[..., None, :], dim=2)  # (B, H, T, D, D_v + 1)
    mixed = (q[..., None, :] @ state).squeeze(-2)  # (B, H, T, D_v + 1)
    return mixed[..., :-1] / mixed[..., -1:]
