"""The family of `linear-attention`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor
from torch.nn.functional import elu, softplus

from reference.mistakes import core
from reference.mistakes.exponent import exp32
from reference.mistakes.readings import EPSILON

_FEATURES: dict[str, Callable[[Tensor], Tensor]] = {
    "elu-plus-one": lambda x: elu(x) + 1,
    "elu": elu,
    "relu": torch.relu,
    "relu-plus-one": lambda x: torch.relu(x) + 1,
    "softplus": softplus,
    "exp": exp32,
    "identity": lambda x: x,
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "sigmoid": torch.sigmoid,
}


def _running(pairs: Tensor, axis: int, decay: float) -> Tensor:
    """The running sums of pairs (B, H, T, ...) along an axis, each multiplied by `decay` before
    the next term."""
    if decay == 1.0:
        return pairs.cumsum(dim=axis)
    sums = [pairs[:, :, 0]]
    for term in pairs[:, :, 1:].unbind(dim=2):
        sums.append(sums[-1] * decay + term)
    return torch.stack(sums, dim=2)


def _before(sums: Tensor) -> Tensor:
    """Each position's sum as it was before the position itself: zero at the first."""
    return torch.cat((torch.zeros_like(sums[:, :, :1]), sums[:, :, :-1]), dim=2)


def _of_chunk(sums: Tensor, chunk: int, carried: str) -> Tensor:
    """Running sums (B, H, T, ...) that begin anew with each chunk, or (last) the one before."""
    place = torch.arange(sums.shape[2], device=sums.device)  # (T,)
    begin = place // chunk * chunk - (chunk if carried == "last" else 0)  # (T,)
    earlier = torch.cat((torch.zeros_like(sums[:, :, :1]), sums), dim=2)  # (B, H, T+1, ...)
    return sums - earlier[:, :, begin.clamp(min=0)]


def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    features: str = "elu-plus-one",
    mapped: str = "both",
    scale: str = "none",
    kernel: str = "features",
    span: str = "past",
    read: str = "after",
    axis: int = 2,
    decay: float = 1.0,
    keys_summed: str = "running",
    normaliser: str = "right",
    forgotten: str = "nothing",
    chunk: int = 16,
    carried: str = "none",
) -> Tensor:
    """Causal linear attention of q, k (B, H, T, D) and v (B, H, T, D_v); as the reference.

    features    the feature map; mapped: both, keys (not the queries) or queries (not the keys)
    scale       none; or before: q is multiplied by 1/sqrt(D) before the feature map
    kernel      features; or softmax: ordinary causal attention
    span        past; or all: sums over all the keys
    read        the sums after this position's update; or before it: 0/0 in the first row, which
                before-zero makes zero; or state-before: the state alone
    axis        what the sums run along: 2, the positions, or 1, the heads
    keys_summed running; all; last (the position's own key alone); or before: read before the update
    normaliser  right; missing; keys (the key sum's total, without the query); count; or
                epsilon (1e-2 added), or clamped (at least 1)
    forgotten   nothing; or state, keys or both: that sum goes from chunk to chunk no further
    chunk       its length; carried: none, or last: the sum of the chunk before replaces the older
    """
    if kernel == "softmax":
        allow = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).tril()  # (T, T)
        return core.attend(q, k, v, allow)
    phi = _FEATURES[features]
    if scale == "before":
        q = q * q.shape[-1] ** -0.5
    q = q if mapped == "keys" else phi(q)  # (B, H, T, D)
    k = k if mapped == "queries" else phi(k)  # (B, H, T, D)
    state = _running(k[..., None] * v[..., None, :], axis, decay)  # (B, H, T, D, D_v)
    key_sum = _running(k, axis, decay)  # (B, H, T, D)
    if forgotten in ("state", "both"):
        state = _of_chunk(state, chunk, carried)
    if forgotten in ("keys", "both"):
        key_sum = _of_chunk(key_sum, chunk, carried)
    if span == "all":
        state, key_sum = (x[:, :, -1:].expand_as(x) for x in (state, key_sum))
    if read != "after":
        state, key_sum = _before(state), key_sum if read == "state-before" else _before(key_sum)
    key_sum = {
        "running": key_sum,
        "all": key_sum[:, :, -1:].expand_as(key_sum),
        "last": k,
        "before": _before(key_sum),
    }[keys_summed]  # (B, H, T, D)
    mixed = (q[..., None, :] @ state).squeeze(-2)  # (B, H, T, D_v)
    if normaliser == "missing":
        return mixed
    total = (q * key_sum).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    if normaliser == "keys":
        total = key_sum.sum(dim=-1, keepdim=True)
    if normaliser == "count":
        seen = torch.arange(1, q.shape[2] + 1, device=q.device)  # (T,)
        total = seen[:, None].to(q.dtype).expand_as(total)
    if normaliser in EPSILON:
        total = total + EPSILON[normaliser]
    if normaliser == "clamped":
        total = total.clamp(min=1.0)
    out = mixed / total  # (B, H, T, D_v)
    if read == "before-zero":
        out = torch.cat((torch.zeros_like(out[:, :, :1]), out[:, :, 1:]), dim=2)
    return out


def _chunked(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Sums forgotten between chunks of another length, or replaced by the last chunk's."""
    if "forgotten" not in switches:
        return
    for chunk in (1, 2, 4, 8, 16, 32, 64, 128):
        if chunk > 1 or switches["forgotten"] == "state":  # else another mistake, or v itself
            yield {**switches, "chunk": chunk}
        yield {**switches, "chunk": chunk, "carried": "last"}


READINGS = {"linear_attention": _chunked}
"""As in `reference.mistakes.masks`."""

MISTAKES: core.Mistakes = {
    "linear_attention": {
        "linear-normaliser-missing": {"normaliser": "missing"},
        "linear-normaliser-of-all-keys": {"keys_summed": "all"},
        "linear-normaliser-of-last-key": {"keys_summed": "last"},
        "linear-normaliser-without-query": {"normaliser": "keys"},
        "linear-normaliser-by-count": {"normaliser": "count"},
        "linear-normaliser-hides-self": {"keys_summed": "before"},
        "linear-hides-self": {"read": "before"},
        "linear-hides-self-zero": {"read": "before-zero"},
        "linear-state-hides-self": {"read": "state-before"},
        "causal-missing": {"span": "all"},
        "linear-softmax-instead": {"kernel": "softmax"},
        "linear-feature-relu": {"features": "relu"},
        "linear-feature-relu-plus-one": {"features": "relu-plus-one"},
        "linear-feature-softplus": {"features": "softplus"},
        "linear-feature-elu": {"features": "elu"},
        "linear-feature-exp": {"features": "exp"},
        "linear-feature-identity": {"features": "identity"},
        "linear-feature-softmax": {"features": "softmax"},
        "linear-feature-sigmoid": {"features": "sigmoid"},
        "linear-query-unmapped": {"mapped": "keys"},
        "linear-key-unmapped": {"mapped": "queries"},
        "linear-scale-added": {"scale": "before"},
        "linear-epsilon-large": {"normaliser": "epsilon"},
        "linear-normaliser-clamped": {"normaliser": "clamped"},
        "linear-sum-over-heads": {"axis": 1},
        "linear-state-decays": {"decay": 0.5},
        "linear-chunks-forgotten": {"forgotten": "both"},
        "linear-chunk-state-forgotten": {"forgotten": "state"},
        "linear-chunk-keys-forgotten": {"forgotten": "keys"},
    }
}
