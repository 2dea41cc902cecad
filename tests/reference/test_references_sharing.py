"""The references of shared heads, other sequences, windows and interleaved pairs, against torch's
own functions, complex numbers, and loops."""

from __future__ import annotations

import cmath

import pytest
import torch
from drawing import drawing
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from reference.cross_attention import cross_attention
from reference.mqa import mqa
from reference.rope_interleaved import apply_rope
from reference.sliding_window import sliding_window_attention

draw = drawing(31, torch.float64)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("base", [10000.0, 70.0])
def test_interleaved_rope_is_a_rotation_of_complex_numbers(base: float) -> None:
    width, positions = 6, [0, 5, 2, 32767]
    x = draw(1, 1, len(positions), width)
    out = apply_rope(x, torch.tensor(positions), base)[0, 0]
    for t, position in enumerate(positions):
        for i in range(width // 2):
            pair = complex(float(x[0, 0, t, 2 * i]), float(x[0, 0, t, 2 * i + 1]))
            turned = pair * cmath.exp(1j * position * base ** (-2 * i / width))
            assert float(out[t, 2 * i]) == pytest.approx(turned.real, abs=1e-9)
            assert float(out[t, 2 * i + 1]) == pytest.approx(turned.imag, abs=1e-9)


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 5e-3), (torch.bfloat16, 0.03)])
def test_interleaved_rope_stays_precise_at_long_positions(dtype: torch.dtype, error: float) -> None:
    x = drawing(5, dtype)(1, 1, 64, 16)
    positions = torch.arange(32704, 32768)
    out = apply_rope(x, positions)
    assert out.dtype == dtype
    assert float((out.double() - apply_rope(x.double(), positions)).abs().max()) < error


@pytest.mark.parametrize(("t", "s"), [(1, 6), (3, 7), (5, 5)])
def test_mqa_is_torch_s_grouped_attention_of_the_last_queries(t: int, s: int) -> None:
    q, k, v = draw(2, 3, t, 4), draw(2, 1, s, 4), draw(2, 1, s, 4)
    earlier = torch.cat([draw(2, 3, s - t, 4), q], dim=2)
    full = scaled_dot_product_attention(earlier, k, v, is_causal=True, enable_gqa=True)
    close(mqa(q, k, v), full[:, :, s - t :])


def test_cross_attention_is_torch_s_module() -> None:
    d, n_heads = 12, 3
    x, context = draw(3, 5, d), draw(3, 7, d)
    w_q, w_k, w_v, w_o = (draw(d, d, std=0.3) for _ in range(4))
    module = torch.nn.MultiheadAttention(d, n_heads, bias=False, batch_first=True).double()
    module.load_state_dict({"in_proj_weight": torch.cat([w_q, w_k, w_v]), "out_proj.weight": w_o})
    lengths = torch.tensor([4, 7, 1])
    hidden = torch.arange(7) >= lengths[:, None]
    weights = (w_q, w_k, w_v, w_o, n_heads)
    masked = module(x, context, context, key_padding_mask=hidden, need_weights=False)[0].detach()
    close(cross_attention(x, context, *weights, lengths), masked)
    unmasked = module(x, context, context, need_weights=False)[0].detach()
    close(cross_attention(x, context, *weights), unmasked)


@pytest.mark.parametrize("window", [1, 3, 6, 20])
def test_a_sliding_window_is_attention_over_a_slice_for_each_query(window: int) -> None:
    q, k, v = draw(2, 2, 6, 4), draw(2, 2, 6, 4), draw(2, 2, 6, 4)
    out = sliding_window_attention(q, k, v, window)
    for i in range(6):
        seen = slice(max(0, i - window + 1), i + 1)
        row = scaled_dot_product_attention(q[:, :, [i]], k[:, :, seen], v[:, :, seen])
        close(out[:, :, [i]], row)
    if window == 1:
        close(out, v)
