"""Other ways to write the debug drills' decoders: `debug-cached-decoder` and `debug-gpt`, each
with the signature of its reference."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.baselines import core, generation

Weights = tuple[Tensor, Tensor, Tensor, Tensor]

_LAYER = (
    generation.cached_attention_einsum,
    generation.cached_attention_one_by_one,
    generation.cached_attention_tiled,
)


def _decode(
    x: Tensor, weights: Weights, n_heads: int, n_kv_heads: int, sizes: list[int], how: int
) -> Tensor:
    """`sizes` tokens at a time through all the layers, each with caches of its own."""
    layer = _LAYER[how]
    width = weights[0].shape[1] // n_heads
    empty = x.new_empty(x.shape[0], n_kv_heads, 0, width)
    caches = [(empty, empty) for _ in weights[0]]
    outs = []
    for part in torch.split(x, sizes, dim=1):  # (B, T, d)
        h = part
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
    """A token at a time, the first ones too."""
    del prefill, chunk
    return _decode(x, (w_q, w_k, w_v, w_o), n_heads, n_kv_heads, [1] * x.shape[1], 1)


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
    tokens: Tensor,
    tables: tuple[Tensor, Tensor],
    weights: Weights,
    gains: tuple[Tensor, Tensor, Tensor],
    n_heads: int,
    how: int,
) -> Tensor:
    embed, places = tables
    attend = (core.einsum, core.per_head, core.tiled)[how]
    norm = (_norm_builtin, _norm_by_moments, _norm_scaled)[how]
    length = tokens.shape[1]
    allow = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()  # (T, T)
    index = torch.arange(length, device=tokens.device)
    x = torch.nn.functional.embedding(tokens, embed) + places[index]  # (B, T, d)
    for w_qkv, w_o, w_up, w_down, g_attn, g_mlp in zip(*weights, *gains[:2], strict=True):
        mixed = _mixed(norm(x, g_attn), w_qkv, n_heads, allow, attend)  # (B, H, T, D)
        x = x + torch.einsum("bhte,dhe->btd", mixed, w_o.view(len(w_o), n_heads, -1))
        hidden = torch.nn.functional.linear(norm(x, g_mlp), w_up)  # (B, T, F)
        x = x + torch.nn.functional.linear(torch.nn.functional.gelu(hidden), w_down)
    return torch.einsum("btd,vd->btv", norm(x, gains[2]), embed)  # (B, T, V)


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


def debug_gpt_einsum(
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
    """torch's own layer norm, einsum."""
    weights, gains = (w_qkv, w_o, w_up, w_down), (g_attn, g_mlp, g_out)
    return _gpt(tokens, (embed, places), weights, gains, n_heads, 0)


def debug_gpt_per_head(
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
    """The variance from the mean of squares, a head at a time."""
    weights, gains = (w_qkv, w_o, w_up, w_down), (g_attn, g_mlp, g_out)
    return _gpt(tokens, (embed, places), weights, gains, n_heads, 1)


def debug_gpt_tiled(
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
    """The norm as one multiplication and one subtraction, key blocks with an online softmax."""
    weights, gains = (w_qkv, w_o, w_up, w_down), (g_attn, g_mlp, g_out)
    return _gpt(tokens, (embed, places), weights, gains, n_heads, 2)
