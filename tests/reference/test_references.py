"""The references against sources that share no code with them."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from reference.attention import attention
from reference.block import attention_block
from reference.gqa import gqa
from reference.kv_cache import decode_step
from reference.masks import causal_mask, padded_attention
from reference.multi_head import causal_mha
from reference.numpy_attention import causal_mha as numpy_causal_mha
from reference.online_softmax import online_softmax
from reference.rope import apply_rope
from reference.softmax import softmax

# The hand-worked example with Q = K, no mask and causal, as published with the figures.
FULL = [[3.0, 4.0], [3.406673, 4.406673], [3.510470, 4.510470]]
CAUSAL = [[1.0, 2.0], [2.339523, 3.339523], [3.510470, 4.510470]]


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(11)


def normal(draw: torch.Generator, *shape: int, std: float = 1.0) -> Tensor:
    return std * torch.randn(*shape, generator=draw, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def test_softmax_is_the_scalar_formula() -> None:
    row = [0.5, -1.0, 2.0, 0.0]
    total = sum(math.exp(x) for x in row)
    expected = torch.tensor([math.exp(x) / total for x in row], dtype=torch.float64)
    close(softmax(torch.tensor(row, dtype=torch.float64)), expected)


@pytest.mark.parametrize("dim", [0, 1, -1, -3])
def test_softmax_along_any_dimension_is_torch_s(draw: torch.Generator, dim: int) -> None:
    x = normal(draw, 3, 4, 5, std=3.0)
    x[0, 1, 2] = -torch.inf
    close(softmax(x, dim), torch.softmax(x, dim))


def test_softmax_survives_huge_logits_and_gives_zeros_for_a_hidden_row() -> None:
    x = torch.tensor([[1e5, 1e5 - 1.0, -1e5], [-torch.inf] * 3, [-1e5, -1e5, -torch.inf]])
    p = 1.0 / (1.0 + math.exp(-1.0))
    expected = torch.tensor([[p, 1 - p, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    close(softmax(x), expected, 1e-6)


@pytest.mark.parametrize("width", [4, 6])
def test_attention_is_torch_s(draw: torch.Generator, width: int) -> None:
    q, k = normal(draw, 2, 3, 5, 4), normal(draw, 2, 3, 7, 4)
    v = normal(draw, 2, 3, 7, width)
    mask = torch.rand(2, 1, 5, 7, generator=draw) < 0.5
    mask[..., 3] = True
    close(attention(q, k, v), scaled_dot_product_attention(q, k, v))
    close(attention(q, k, v, mask), scaled_dot_product_attention(q, k, v, attn_mask=mask))


def test_attention_gives_the_published_values_of_the_hand_worked_example() -> None:
    q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)[None, None]
    v = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)[None, None]
    full = attention(q, q, v)[0, 0]
    causal = attention(q, q, v, causal_mask(3, 3))[0, 0]
    close(full, torch.tensor(FULL, dtype=torch.float64), 1e-6)
    close(causal, torch.tensor(CAUSAL, dtype=torch.float64), 1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_row_that_sees_nothing_is_zero_and_so_is_its_gradient(dtype: torch.dtype) -> None:
    q, k, v = torch.randn(3, 1, 2, 4, 8).to(dtype).unbind(0)
    q.requires_grad_()
    mask = torch.ones(1, 1, 4, 4, dtype=torch.bool)
    mask[..., 2, :] = False
    out = attention(q, k, v, mask)
    out.sum().backward()
    assert out.dtype == dtype
    assert bool((out[:, :, 2] == 0).all())
    assert bool(out.isfinite().all())
    assert q.grad is not None
    assert bool(q.grad.isfinite().all())
    assert bool((q.grad[:, :, 2] == 0).all())
    with torch.inference_mode():
        assert bool(attention(q, k, v, mask).isfinite().all())


def test_causal_mask_is_bottom_right() -> None:
    assert causal_mask(1, 6).tolist() == [[True] * 6]
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True] * 4]
    x = torch.randn(1, 1, 5, 4, dtype=torch.float64)
    causal = scaled_dot_product_attention(x, x, x, is_causal=True)
    close(attention(x, x, x, causal_mask(5, 5)), causal)


@pytest.mark.parametrize("n_heads", [1, 3])
def test_causal_mha_is_torch_s_module(draw: torch.Generator, n_heads: int) -> None:
    x = normal(draw, 2, 5, 12)
    w_q, w_k, w_v, w_o = (normal(draw, 12, 12, std=0.3) for _ in range(4))
    module = torch.nn.MultiheadAttention(12, n_heads, bias=False, batch_first=True).double()
    module.load_state_dict({"in_proj_weight": torch.cat([w_q, w_k, w_v]), "out_proj.weight": w_o})
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    expected = module(x, x, x, attn_mask=hidden, need_weights=False)[0].detach()
    close(causal_mha(x, w_q, w_k, w_v, w_o, n_heads), expected)
    numpy_weights = [w.T.contiguous().numpy() for w in (w_q, w_k, w_v, w_o)]
    numpy_out = numpy_causal_mha(x[1].numpy(), *numpy_weights, n_heads)
    close(torch.from_numpy(numpy_out), expected[1])


def test_the_numpy_reference_keeps_float32() -> None:
    X, *W = (np.ones((4, 4), dtype=np.float32) for _ in range(5))
    assert numpy_causal_mha(X, *W, 2).dtype == np.float32


def test_padded_attention_is_attention_over_each_sequence_cut_to_its_length(
    draw: torch.Generator,
) -> None:
    q, k, v = (normal(draw, 3, 2, 5, 4) for _ in range(3))
    out = padded_attention(q, k, v, torch.tensor([3, 0, 5]))
    for b, n in ((0, 3), (2, 5)):
        cut = scaled_dot_product_attention(q[b], k[b, :, :n], v[b, :, :n])
        close(out[b], cut)
    assert bool((out[1] == 0).all())


@pytest.mark.parametrize("base", [10000.0, 500.0])
def test_rope_is_a_rotation_of_complex_numbers(draw: torch.Generator, base: float) -> None:
    width, positions = 8, [0, 7, 3, 32767]
    x = normal(draw, 1, 1, len(positions), width)
    out = apply_rope(x, torch.tensor(positions), base)[0, 0]
    for t, position in enumerate(positions):
        for i in range(width // 2):
            pair = complex(float(x[0, 0, t, i]), float(x[0, 0, t, i + width // 2]))
            turned = pair * cmath.exp(1j * position * base ** (-2 * i / width))
            assert float(out[t, i]) == pytest.approx(turned.real, abs=1e-9)
            assert float(out[t, i + width // 2]) == pytest.approx(turned.imag, abs=1e-9)


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 5e-3), (torch.bfloat16, 0.03)])
def test_rope_stays_precise_at_long_positions_in_low_precision(
    dtype: torch.dtype, error: float
) -> None:
    x = torch.randn(1, 1, 64, 16, generator=torch.Generator().manual_seed(5)).to(dtype)
    positions = torch.arange(32704, 32768)
    exact = apply_rope(x.double(), positions)
    out = apply_rope(x, positions)
    assert out.dtype == dtype
    assert float((out.double() - exact).abs().max()) < error


def test_gqa_is_torch_s_grouped_attention(draw: torch.Generator) -> None:
    n_heads, n_kv_heads, width, d = 6, 2, 4, 10
    x = normal(draw, 2, 5, d)
    w_q, w_o = normal(draw, n_heads * width, d), normal(draw, d, n_heads * width)
    w_k, w_v = normal(draw, n_kv_heads * width, d), normal(draw, n_kv_heads * width, d)
    q = torch.einsum("btd,hed->bhte", x, w_q.view(n_heads, width, d))
    k = torch.einsum("btd,hed->bhte", x, w_k.view(n_kv_heads, width, d))
    v = torch.einsum("btd,hed->bhte", x, w_v.view(n_kv_heads, width, d))
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    expected = torch.einsum("bhte,dhe->btd", mixed, w_o.view(d, n_heads, width))
    close(gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads), expected)


def test_the_block_is_torch_s_grouped_attention_of_rotated_heads(draw: torch.Generator) -> None:
    n_heads, n_kv_heads, width, d = 4, 2, 6, 10
    positions = torch.tensor([4, 9, 2])
    x = normal(draw, 1, 3, d)
    w_q, w_o = normal(draw, n_heads * width, d), normal(draw, d, n_heads * width)
    w_k, w_v = normal(draw, n_kv_heads * width, d), normal(draw, n_kv_heads * width, d)

    def turned(w: Tensor, heads: int) -> Tensor:
        y = torch.einsum("btd,hed->bhte", x, w.view(heads, width, d))
        rates = torch.tensor([300.0 ** (-2 * i / width) for i in range(width // 2)]).double()
        turn = torch.exp(1j * positions[:, None] * rates)
        z = torch.complex(y[..., : width // 2], y[..., width // 2 :]) * turn
        return torch.cat([z.real, z.imag], dim=-1)

    v = torch.einsum("btd,hed->bhte", x, w_v.view(n_kv_heads, width, d))
    mixed = scaled_dot_product_attention(
        turned(w_q, n_heads), turned(w_k, n_kv_heads), v, is_causal=True, enable_gqa=True
    )
    expected = torch.einsum("bhte,dhe->btd", mixed, w_o.view(d, n_heads, width))
    out = attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, 300.0)
    close(out, expected, 1e-6)


def test_decoding_step_by_step_is_the_full_causal_pass(draw: torch.Generator) -> None:
    q = normal(draw, 2, 6, 6, 4)
    k, v = normal(draw, 2, 3, 6, 4), normal(draw, 2, 3, 6, 4)
    full = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    for start in (0, 4):
        k_cache, v_cache = k[:, :, :start], v[:, :, :start]
        for i in range(start, 6):
            now = slice(i, i + 1)
            out, k_cache, v_cache = decode_step(
                q[:, :, now], k[:, :, now], v[:, :, now], k_cache, v_cache
            )
            close(out, full[:, :, now])
        assert torch.equal(k_cache, k)
        assert torch.equal(v_cache, v)


@pytest.mark.parametrize("block_size", [1, 3, 4, 10, 64])
@pytest.mark.parametrize("shift", [0.0, -1e5, 1e5])
def test_online_softmax_gives_the_maximum_and_the_log_sum(
    draw: torch.Generator, block_size: int, shift: float
) -> None:
    x = normal(draw, 2, 3, 10, std=4.0) + shift
    m, l = online_softmax(x, block_size)  # noqa: E741
    assert torch.equal(m, x.amax(dim=-1))
    close(m + l.log(), torch.logsumexp(x, dim=-1), 1e-9)


def test_online_softmax_of_one_dimension_is_a_pair_of_scalars() -> None:
    m, l = online_softmax(torch.tensor([1.0, 3.0, 2.0]), 2)  # noqa: E741
    assert m.shape == l.shape == ()
    assert float(l) == pytest.approx(math.exp(-2) + 1 + math.exp(-1))
