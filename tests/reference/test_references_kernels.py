"""The references of the kernel drills, and what they are measured against, beside other sources."""

from __future__ import annotations

import math

import pytest
import torch
from mistake_cases import CASES, cases_of, reference_of
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from reference.kernels import fused, naive
from reference.kernels.fused_attention import TILE, fused_attention
from reference.kernels.fused_decode import SPLIT, fused_decode
from reference.kernels.fused_softmax import fused_softmax
from reference.kernels.paged_decode import paged_decode

KERNELS = ("fused-softmax", "fused-attention", "fused-decode", "paged-decode-kernel")


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(31)


def normal(draw: torch.Generator, *shape: int, std: float = 1.0) -> Tensor:
    return std * torch.randn(*shape, generator=draw, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (3, 127), (3, 128), (1000, 5), (2, 4097)])
def test_softmax_of_rows_is_torch_s(draw: torch.Generator, shape: tuple[int, int]) -> None:
    for shift in (0.0, 1e4, -1e4):
        x = normal(draw, *shape, std=30.0) + shift
        close(fused_softmax(x), torch.softmax(x, dim=1))


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (8, 1)])
@pytest.mark.parametrize(
    ("t", "s"), [(1, 1), (1, TILE + 1), (TILE - 1, TILE - 1), (TILE + 1, 2 * TILE + 1), (3, 9)]
)
@pytest.mark.parametrize("causal", [False, True])
def test_attention_in_tiles_is_torch_s(
    draw: torch.Generator, heads: int, kv_heads: int, t: int, s: int, causal: bool
) -> None:
    q = normal(draw, 2, heads, t, 5, std=2.0)
    k, v = normal(draw, 2, kv_heads, s, 5), normal(draw, 2, kv_heads, s, 5)
    allow = torch.ones(t, s, dtype=torch.bool).tril(s - t) if causal else None
    owner = [h // (heads // kv_heads) for h in range(heads)]
    expected = scaled_dot_product_attention(q, k[:, owner], v[:, owner], attn_mask=allow)
    close(fused_attention(q, k, v, causal), expected)


def test_attention_without_a_mask_may_have_more_queries_than_keys(draw: torch.Generator) -> None:
    q, k, v = normal(draw, 1, 2, TILE + 9, 4), normal(draw, 1, 2, 7, 4), normal(draw, 1, 2, 7, 4)
    close(fused_attention(q, k, v, False), scaled_dot_product_attention(q, k, v))


def entry_by_entry(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Attention of one query (D,) to keys and values (length, D), in Python's own numbers."""
    scores = [
        math.fsum(float(a) * float(b) for a, b in zip(q, key, strict=True)) / math.sqrt(len(q))
        for key in keys
    ]
    weights = [math.exp(score - max(scores)) for score in scores]
    return torch.tensor(
        [
            math.fsum(w * float(x) for w, x in zip(weights, column, strict=True))
            / math.fsum(weights)
            for column in values.T
        ],
        dtype=torch.float64,
    )


@pytest.mark.parametrize(("heads", "kv_heads"), [(2, 2), (4, 2), (3, 1)])
def test_a_decoding_step_is_attention_to_the_slots_in_use(
    draw: torch.Generator, heads: int, kv_heads: int
) -> None:
    lengths = torch.tensor([1, SPLIT, SPLIT + 1, 5])
    q = normal(draw, 4, heads, 1, 3, std=2.0)
    k, v = (normal(draw, 4, kv_heads, SPLIT + 9, 3) for _ in range(2))
    out = fused_decode(q, k, v, lengths)
    for b, length in enumerate(lengths.tolist()):
        for h in range(heads):
            owner = h // (heads // kv_heads)
            expected = entry_by_entry(q[b, h, 0], k[b, owner, :length], v[b, owner, :length])
            close(out[b, h, 0], expected)


def test_what_lies_past_a_length_does_not_matter(draw: torch.Generator) -> None:
    lengths = torch.tensor([3, SPLIT + 2])
    q, k, v = normal(draw, 2, 2, 1, 4), *(normal(draw, 2, 1, SPLIT + 9, 4) for _ in range(2))
    before = fused_decode(q, k, v, lengths)
    for b, length in enumerate(lengths.tolist()):
        k[b, :, length:] = 1e4
        v[b, :, length:] = -1e4
    close(fused_decode(q, k, v, lengths), before)


@pytest.mark.parametrize("page", [1, 3, 16])
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (3, 1)])
def test_pages_read_in_place_are_the_contiguous_cache(
    draw: torch.Generator, page: int, heads: int, kv_heads: int
) -> None:
    lengths = torch.tensor([1, 16, 17])
    pages = -(-17 // page)
    table = torch.randperm(3 * pages + 2, generator=draw)[: 3 * pages].view(3, pages)
    k, v = (normal(draw, 3, kv_heads, pages * page, 5) for _ in range(2))
    k_pages, v_pages = (normal(draw, 3 * pages + 2, page, kv_heads, 5) for _ in range(2))
    for pool, cache in ((k_pages, k), (v_pages, v)):
        for b in range(3):
            for token in range(pages * page):
                pool[table[b, token // page], token % page] = cache[b, :, token]
    for b, length in enumerate(lengths.tolist()):
        table[b, -(-length // page) :] = -1
    q = normal(draw, 3, heads, 1, 5, std=2.0)
    close(paged_decode(q, k_pages, v_pages, table, lengths), fused_decode(q, k, v, lengths))


@pytest.mark.parametrize("drill", KERNELS)
@pytest.mark.parametrize("bar", [naive, fused], ids=["naive", "fused"])
def test_what_a_kernel_s_speed_is_measured_against_is_right(drill: str, bar: object) -> None:
    name = {"fused-softmax": "softmax", "fused-attention": "attention", "fused-decode": "decode"}
    function = getattr(bar, name.get(drill, "paged_decode"))
    for args in cases_of(drill, torch.float64):
        close(function(*args), reference_of(drill)(*args), 1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("drill", KERNELS)
def test_a_kernel_s_reference_keeps_the_dtype_and_its_inputs(
    drill: str, dtype: torch.dtype
) -> None:
    for args in CASES[drill](torch.bfloat16):
        given = [a.to(dtype) if a.is_floating_point() else a for a in args[:3]]
        call = (*given, *args[len(given) :])
        copies = [a.clone() if isinstance(a, Tensor) else a for a in call]
        out = reference_of(drill)(*call)
        assert out.dtype == dtype
        assert out.shape == given[0].shape
        assert all(
            torch.equal(torch.as_tensor(a), torch.as_tensor(b))
            for a, b in zip(call, copies, strict=True)
        )
