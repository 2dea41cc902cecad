"""Other ways to write the debug drills' decoders: `debug-cached-decoder` and `debug-gpt`, each
with the signature of its reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from reference.baselines import core, generation

Weights = tuple[Tensor, Tensor, Tensor, Tensor]

_LAYER = (
    generation.cached_attention_einsum,
    generation.cached_attention_one_by_one,
    generation.cached_attention_tiled,
)

LONG = 32
"""Tokens of a call past which a loop over them would take longer than all the rest of a grade."""


def _decode(
    x: Tensor, weights: Weights, n_heads: int, n_kv_heads: int, sizes: list[int], how: int
) -> Tensor:
    """`sizes` tokens at a time through all the layers, each with caches of its own."""
    width = weights[0].shape[1] // n_heads
    empty = x.new_empty(x.shape[0], n_kv_heads, 0, width)
    caches = [(empty, empty) for _ in weights[0]]
    outs = []
    for part in torch.split(x, sizes, dim=1):  # (B, T, d)
        h = part
        layer = _LAYER[how if part.shape[1] <= LONG else -1]
        for n, (w_q, w_k, w_v, w_o) in enumerate(zip(*weights, strict=True)):
            out, k, v = layer(h, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, *caches[n])
            caches[n], h = (k, v), h + out
        outs.append(h)
    return torch.cat(outs, dim=1)


def debug_cached_decoder_in_chunks(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    prefill: int,
    chunk: int,
) -> Tensor:
    """As asked: the first tokens, and then chunk by chunk."""
    sizes = [prefill]
    while sum(sizes) < x.shape[1]:
        sizes.append(min(chunk, x.shape[1] - sum(sizes)))
    return _decode(x, (w_q, w_k, w_v, w_o), n_heads, n_kv_heads, sizes, 0)


def debug_cached_decoder_one_by_one(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    prefill: int,
    chunk: int,
) -> Tensor:
    """A token at a time, the first ones too, but for those of a long prompt."""
    del chunk
    prompt = [prefill] if prefill > LONG else [1] * prefill
    sizes = prompt + [1] * (x.shape[1] - prefill)
    return _decode(x, (w_q, w_k, w_v, w_o), n_heads, n_kv_heads, sizes, 1)


def debug_cached_decoder_in_one_pass(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    prefill: int,
    chunk: int,
) -> Tensor:
    """All at once, key blocks with an online softmax."""
    del prefill, chunk
    return _decode(x, (w_q, w_k, w_v, w_o), n_heads, n_kv_heads, [x.shape[1]], 2)


def _mixed(h: Tensor, w_qkv: Tensor, n_heads: int, allow: Tensor, attend: core.Attend) -> Tensor:
    """The heads' mixtures, (B, H, T, D)."""
    per_part = w_qkv.view(3, n_heads, -1, w_qkv.shape[1])  # (3, H, D, d)
    q, k, v = torch.einsum("btd,phed->pbhte", h, per_part)  # (B, H, T, D)
    return attend(q, k, v, allow)


def _gpt(
    norm: Callable[[Tensor, Tensor], Tensor],
    attend: core.Attend,
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
) -> Tensor:
    length = tokens.shape[1]
    allow = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()  # (T, T)
    index = torch.arange(length, device=tokens.device)
    x = torch.nn.functional.embedding(tokens, embed) + places[index]  # (B, T, d)
    layers = zip(w_qkv, w_o, w_up, w_down, g_attn, g_mlp, strict=True)
    for qkv, out, up, down, gain_attn, gain_mlp in layers:
        mixed = _mixed(norm(x, gain_attn), qkv, n_heads, allow, attend)  # (B, H, T, D)
        x = x + torch.einsum("bhte,dhe->btd", mixed, out.view(len(out), n_heads, -1))
        hidden = torch.nn.functional.linear(norm(x, gain_mlp), up)  # (B, T, F)
        x = x + torch.nn.functional.linear(torch.nn.functional.gelu(hidden), down)
    return torch.einsum("btd,vd->btv", norm(x, g_out), embed)  # (B, T, V)


def _norm_builtin(x: Tensor, gain: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x, gain.shape, gain)


def _norm_by_moments(x: Tensor, gain: Tensor) -> Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x * x).mean(dim=-1, keepdim=True) - mean * mean
    return (x - mean) * torch.rsqrt(variance.clamp(min=0.0) + 1e-5) * gain


def _norm_scaled(x: Tensor, gain: Tensor) -> Tensor:
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    scaled = gain / (variance + 1e-5) ** 0.5
    return x * scaled - mean * scaled


debug_gpt_einsum = partial(_gpt, _norm_builtin, core.einsum)
debug_gpt_per_head = partial(_gpt, _norm_by_moments, core.per_head)
debug_gpt_tiled = partial(_gpt, _norm_scaled, core.tiled)
