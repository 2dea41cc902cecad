"""The references that decode against sources that share no code with them: torch's own attention
and encoder layer, complex numbers, loops over numbers, and passes without any cache."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from reference.cached_attention import cached_attention
from reference.cached_decoder import decode_in_chunks
from reference.cached_gqa import cached_gqa
from reference.generation import generate
from reference.gpt import gpt
from reference.gqa import gqa
from reference.paged import paged_decode

Weights = tuple[Tensor, Tensor, Tensor, Tensor]
N_HEADS, N_KV_HEADS, WIDTH, D_MODEL = 4, 2, 6, 10


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(17)


def normal(draw: torch.Generator, *shape: int, std: float = 1.0) -> Tensor:
    return std * torch.randn(*shape, generator=draw, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


def weights_of(draw: torch.Generator) -> Weights:
    w_q = normal(draw, N_HEADS * WIDTH, D_MODEL, std=0.5)
    w_k, w_v = (normal(draw, N_KV_HEADS * WIDTH, D_MODEL, std=0.5) for _ in range(2))
    return w_q, w_k, w_v, normal(draw, D_MODEL, N_HEADS * WIDTH, std=0.5)


def turned(x: Tensor, base: float) -> Tensor:
    """x (B, n, T, D) at positions 0 to T - 1, its halves as complex numbers."""
    half = x.shape[-1] // 2
    frequency = base ** (-torch.arange(half, dtype=torch.float64) / half)  # (D/2,)
    angles = torch.outer(torch.arange(x.shape[2], dtype=torch.float64), frequency)  # (T, D/2)
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([z.real, z.imag], dim=-1)


def full_pass(x: Tensor, weights: Weights, base: float = 10000.0) -> tuple[Tensor, Tensor, Tensor]:
    """The output, the rotated keys and the values of one pass over all tokens."""
    w_q, w_k, w_v, w_o = weights
    q, k, v = (
        (x @ w.T).unflatten(-1, (-1, WIDTH)).transpose(1, 2)  # (B, n, T, D)
        for w in (w_q, w_k, w_v)
    )
    q, k = turned(q, base), turned(k, base)
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return mixed.transpose(1, 2).flatten(start_dim=2) @ w_o.T, k, v


@pytest.mark.parametrize("sizes", [(6,), (4, 1, 1), (3, 3), (1, 5)], ids=str)
@pytest.mark.parametrize("base", [10000.0, 300.0])
def test_chunks_over_a_cache_are_one_pass_over_all_tokens(
    draw: torch.Generator, sizes: tuple[int, ...], base: float
) -> None:
    x, weights = normal(draw, 2, 6, D_MODEL), weights_of(draw)
    k = v = x.new_empty(2, N_KV_HEADS, 0, WIDTH)
    outs = []
    for part in x.split(sizes, dim=1):
        out, k, v = cached_attention(part, *weights, N_HEADS, N_KV_HEADS, k, v, base)
        outs.append(out)
    expected, keys, values = full_pass(x, weights, base)
    close(torch.cat(outs, dim=1), expected)
    close(k, keys)
    close(v, values)


@settings(max_examples=40, deadline=None)
@given(
    pieces=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    sharing=st.sampled_from([(1, 1), (2, 1), (4, 2), (6, 2), (3, 3)]),
    width=st.integers(1, 5),
    seed=st.integers(0, 2**32),
)
def test_a_sequence_fed_in_pieces_gives_what_gqa_gives_on_the_whole(
    pieces: list[int], sharing: tuple[int, int], width: int, seed: int
) -> None:
    draw, (heads, kv_heads) = torch.Generator().manual_seed(seed), sharing
    x = normal(draw, 2, sum(pieces), 7)
    w_q, w_k, w_v = (normal(draw, n * width, 7) for n in (heads, kv_heads, kv_heads))
    weights = w_q, w_k, w_v, normal(draw, 7, heads * width)
    k = v = x.new_empty(2, kv_heads, 0, width)
    outs = []
    for part in x.split(pieces, dim=1):
        out, k, v = cached_gqa(part, *weights, heads, kv_heads, k, v)
        outs.append(out)
    close(torch.cat(outs, dim=1), gqa(x, *weights, heads, kv_heads))
    for cache, w in ((k, w_k), (v, w_v)):
        close(cache, (x @ w.T).unflatten(-1, (kv_heads, width)).transpose(1, 2))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize(("past", "new"), [(0, 3), (4, 1), (3, 2)])
def test_attention_over_a_cache_is_a_sum_over_the_tokens_seen_so_far(
    draw: torch.Generator, past: int, new: int, n_kv_heads: int
) -> None:
    w_q, w_k, w_v, w_o = weights_of(draw)
    w_k, w_v = (normal(draw, n_kv_heads * WIDTH, D_MODEL, std=0.5) for _ in range(2))
    x = normal(draw, 2, new, D_MODEL)
    caches = [normal(draw, 2, n_kv_heads, past, WIDTH) for _ in range(2)]
    expected = torch.zeros_like(x)
    for b in range(2):
        for i in range(new):
            merged: list[float] = []
            for h in range(N_HEADS):
                shared = h // (N_HEADS // n_kv_heads)
                rows, own = slice(h * WIDTH, (h + 1) * WIDTH), slice(shared * WIDTH, None)
                query = w_q[rows] @ x[b, i]
                keys, values = (
                    [*cache[b, shared], *(w[own][:WIDTH] @ x[b, j] for j in range(i + 1))]
                    for cache, w in zip(caches, (w_k, w_v), strict=True)
                )
                scores = [float(query @ key) / math.sqrt(WIDTH) for key in keys]
                raised = [math.exp(score - max(scores)) for score in scores]
                for n in range(WIDTH):
                    parts = zip(raised, values, strict=True)
                    merged.append(sum(e * float(value[n]) for e, value in parts) / sum(raised))
            expected[b, i] = w_o @ torch.tensor(merged, dtype=torch.float64)
    out, _, _ = cached_gqa(x, w_q, w_k, w_v, w_o, N_HEADS, n_kv_heads, *caches)
    close(out, expected)


@pytest.mark.parametrize(
    "lengths", [[7, 3], [1, 8], [4, 5]], ids=["ragged", "one-and-full", "a-page-and-one-more"]
)
def test_paged_decoding_is_attention_over_each_sequence_s_own_tokens(
    draw: torch.Generator, lengths: list[int]
) -> None:
    page, max_pages = 4, 2
    table = torch.tensor([[5, 2], [0, 3]])
    q = normal(draw, 2, N_HEADS, 1, WIDTH)
    pools = [normal(draw, 6, page, N_KV_HEADS, WIDTH, std=50.0) for _ in range(2)]
    outs = []
    for b, length in enumerate(lengths):
        own = [normal(draw, 1, N_KV_HEADS, length, WIDTH) for _ in range(2)]
        for pool, sequence in zip(pools, own, strict=True):
            for t in range(length):
                pool[table[b, t // page], t % page] = sequence[0, :, t]
        table[b, -(-length // page) : max_pages] = -1
        outs.append(scaled_dot_product_attention(q[b : b + 1], *own, enable_gqa=True))
    close(paged_decode(q, *pools, table, torch.tensor(lengths)), torch.cat(outs))


@pytest.mark.parametrize("prompt_length", [1, 5])
def test_cached_generation_is_a_full_pass_for_every_token(
    draw: torch.Generator, prompt_length: int
) -> None:
    embed, (w_q, w_k, w_v, w_o) = normal(draw, 20, D_MODEL), weights_of(draw)
    weights = (w_q, w_k, w_v, 12 * w_o)  # large enough to outweigh the last token's own logit
    text = torch.randint(20, (prompt_length,), generator=draw)
    prompt = text.clone()
    for _ in range(9):
        x = embed[text][None]  # (1, n, d)
        logits = (x + full_pass(x, weights)[0])[0, -1] @ embed.T  # (V,)
        text = torch.cat([text, logits.argmax(dim=0, keepdim=True)])
    new = generate(prompt, 9, embed, *weights, N_HEADS, N_KV_HEADS)
    assert new.dtype == torch.int64
    assert new.tolist() == text[prompt_length:].tolist()
    assert len(set(new.tolist())) > 2


def test_the_decoder_is_a_stack_of_residual_layers_however_its_tokens_come(
    draw: torch.Generator,
) -> None:
    x = normal(draw, 2, 5, D_MODEL)
    first, second = weights_of(draw), weights_of(draw)
    stacked = [torch.stack(pair) for pair in zip(first, second, strict=True)]
    expected = x + full_pass(x, first)[0]
    expected = expected + full_pass(expected, second)[0]
    for prefill, chunk in ((5, 1), (3, 1), (2, 2)):
        close(decode_in_chunks(x, *stacked, N_HEADS, N_KV_HEADS, prefill, chunk), expected)


def test_the_small_gpt_is_torch_s_own_encoder_layers_under_a_causal_mask(
    draw: torch.Generator,
) -> None:
    width, heads, inner, length = 12, 3, 20, 7
    layers = [
        torch.nn.TransformerEncoderLayer(
            width, heads, inner, 0.0, "gelu", batch_first=True, norm_first=True, bias=False,
            dtype=torch.float64,
        )
        for _ in range(2)
    ]  # fmt: skip
    names = [
        "self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight",
        "linear2.weight", "norm1.weight", "norm2.weight",
    ]  # fmt: skip
    with torch.no_grad():
        for layer in layers:
            for gain in (layer.norm1.weight, layer.norm2.weight):
                gain.copy_(1 + 0.3 * normal(draw, width))
    weights = [torch.stack([dict(x.named_parameters())[n].detach() for x in layers]) for n in names]
    embed, places, g_out = normal(draw, 9, width), normal(draw, 8, width), normal(draw, width)
    tokens = torch.randint(9, (2, length), generator=draw)

    x = embed[tokens] + places[:length]  # (B, T, d)
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)  # (T, T)
    for layer in layers:
        x = layer(x, src_mask=hidden)
    expected = layer_norm(x, (width,), g_out) @ embed.T  # (B, T, V)
    close(gpt(tokens, embed, places, *weights, g_out, heads), expected.detach())
