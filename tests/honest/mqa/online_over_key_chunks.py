from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class Running:
    top: torch.Tensor    # (B, H, T, 1)
    total: torch.Tensor  # (B, H, T, 1)
    mix: torch.Tensor    # (B, H, T, D)


def absorb(state: Running | None, scores: torch.Tensor, values: torch.Tensor) -> Running:
    top = scores.amax(-1, keepdim=True)
    if state is not None:
        top = torch.maximum(top, state.top)
    e = torch.exp(scores - top)
    total, mix = e.sum(-1, keepdim=True), e @ values
    if state is not None:
        fade = torch.exp(state.top - top)
        total, mix = total + fade * state.total, mix + fade * state.mix
    return Running(top, total, mix)


def mqa(q, k, v):
    T, S, D = q.shape[2], k.shape[2], q.shape[3]
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    queries = q.to(wide) / D**0.5
    last = torch.arange(T)[:, None] + (S - T)
    state = None
    # the first chunk holds key 0, which every query sees: the top is never -inf
    for keys, values, index in zip(k.split(3, 2), v.split(3, 2), torch.arange(S).split(3)):
        scores = queries @ keys.to(wide).transpose(-1, -2)
        scores = scores.masked_fill(index > last, -torch.inf)
        state = absorb(state, scores, values.to(wide))
    return (state.mix / state.total).to(q.dtype)
