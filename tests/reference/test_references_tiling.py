"""The references in tiles, of linear attention and of the backward pass, against other sources."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from reference.attention_backward import attention_backward
from reference.flash_attention import flash_attention
from reference.linear_attention import linear_attention
from reference.merge_attention import merge_attention


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(17)


def normal(draw: torch.Generator, *shape: int, std: float = 1.0) -> Tensor:
    return std * torch.randn(*shape, generator=draw, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("block_size", [1, 3, 4, 9, 64])
@pytest.mark.parametrize(("t", "s"), [(9, 9), (4, 9), (1, 9), (5, 7)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_in_blocks_is_torch_s(
    draw: torch.Generator, block_size: int, t: int, s: int, causal: bool
) -> None:
    q, k, v = normal(draw, 2, 3, t, 5, std=2.0), normal(draw, 2, 3, s, 5), normal(draw, 2, 3, s, 5)
    allow = torch.ones(t, s, dtype=torch.bool).tril(s - t) if causal else None
    expected = scaled_dot_product_attention(q, k, v, attn_mask=allow)
    close(flash_attention(q, k, v, block_size, causal), expected)


def test_attention_in_blocks_survives_scores_of_either_sign_and_any_order(
    draw: torch.Generator,
) -> None:
    q, k, v = normal(draw, 1, 2, 3, 4), normal(draw, 1, 2, 8, 4), normal(draw, 1, 2, 8, 4)
    q[..., 0] = 300.0
    for levels in ([-300.0] * 8, [-300.0] * 6 + [300.0] * 2, [300.0] * 3 + [-300.0] * 5):
        k[..., 0] = torch.tensor(levels, dtype=torch.float64)
        close(flash_attention(q, k, v, 3), scaled_dot_product_attention(q, k, v))


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The size of the largest tensor that any operation returned."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.entries = max(self.entries, result.numel())
        return result


def test_attention_in_blocks_makes_no_tensor_of_queries_times_keys(draw: torch.Generator) -> None:
    q, k, v = (normal(draw, 1, 1, 256, 4) for _ in range(3))
    with Largest() as seen:
        flash_attention(q, k, v, 8, True)
    assert seen.entries <= 256 * 8


def attention_and_lse(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
    return scaled_dot_product_attention(q, k, v), torch.logsumexp(scores, dim=-1)


@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_merging_two_parts_of_the_keys_is_attention_over_all(
    draw: torch.Generator, shift: float
) -> None:
    q, k, v = normal(draw, 2, 3, 4, 5), normal(draw, 2, 3, 9, 5), normal(draw, 2, 3, 9, 5)
    o_a, lse_a = attention_and_lse(q, k[..., :3, :], v[..., :3, :])
    o_b, lse_b = attention_and_lse(q, k[..., 3:, :], v[..., 3:, :])
    out, lse = merge_attention(o_a, lse_a + shift, o_b, lse_b + shift)
    expected, its_lse = attention_and_lse(q, k, v)
    close(out, expected, 1e-9)
    close(lse, its_lse + shift, 1e-9)


def test_merging_ignores_a_part_that_saw_no_key(draw: torch.Generator) -> None:
    o_a, o_b = normal(draw, 1, 2, 3, 4), normal(draw, 1, 2, 3, 4)
    seen, nothing = normal(draw, 1, 2, 3), torch.full((1, 2, 3), -torch.inf).double()
    for merged in (
        merge_attention(o_a, seen, o_b + 1e30, nothing),
        merge_attention(o_b + 1e30, nothing, o_a, seen),
    ):
        close(merged[0], o_a)
        close(merged[1], seen)


def test_linear_attention_is_the_scalar_formula(draw: torch.Generator) -> None:
    q, k, v = normal(draw, 2, 2, 5, 3), normal(draw, 2, 2, 5, 3), normal(draw, 2, 2, 5, 4)

    def phi(x: float) -> float:
        return x + 1 if x > 0 else math.exp(x)

    out = linear_attention(q, k, v)
    for b in range(2):
        for h in range(2):
            for i in range(5):
                weights = [
                    sum(
                        phi(float(x)) * phi(float(y))
                        for x, y in zip(q[b, h, i], k[b, h, j], strict=True)
                    )
                    for j in range(i + 1)
                ]
                for e in range(4):
                    mixed = sum(w * float(v[b, h, j, e]) for j, w in enumerate(weights))
                    assert float(out[b, h, i, e]) == pytest.approx(mixed / sum(weights), rel=1e-10)


@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (1, 2, 8, 3), (1, 1, 1, 2)])
def test_the_backward_pass_is_autograd_s_through_torch_s_attention(
    draw: torch.Generator, shape: tuple[int, ...]
) -> None:
    q, k, v = (normal(draw, *shape, std=1.5).requires_grad_() for _ in range(3))
    d_out = normal(draw, *shape)
    out = scaled_dot_product_attention(q, k, v, is_causal=True)
    expected = torch.autograd.grad(out, (q, k, v), d_out)
    with torch.no_grad():
        found = attention_backward(q, k, v, d_out)
    for mine, its in zip(found, expected, strict=True):
        close(mine, its)
