"""Latent attention, rotated shared heads and left padding, against sources that share no code."""

from __future__ import annotations

import cmath
import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from reference.latent import latent_attention, latent_decode
from reference.latent_rope import latent_rope_attention
from reference.left_padding import left_padded_attention
from reference.rope_gqa import rope_gqa


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(17)


def normal(draw: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=draw, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def test_latent_attention_is_torch_s_attention_of_the_expanded_keys(draw: torch.Generator) -> None:
    d, n_heads, width, value_width, latent_width = 10, 3, 4, 6, 7
    x = normal(draw, 2, 5, d)
    w_q, w_dkv = normal(draw, n_heads * width, d), normal(draw, latent_width, d)
    w_uk = normal(draw, n_heads * width, latent_width)
    w_uv = normal(draw, n_heads * value_width, latent_width)
    w_o = normal(draw, d, n_heads * value_width)
    out, latent = latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads)
    close(latent, torch.einsum("btd,rd->btr", x, w_dkv))
    q, k, v = (
        torch.stack(tensor.chunk(n_heads, dim=-1), dim=1)
        for tensor in (x @ w_q.T, x @ w_dkv.T @ w_uk.T, x @ w_dkv.T @ w_uv.T)
    )
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
    close(out, torch.cat(mixed.unbind(1), dim=-1) @ w_o.T)


def test_absorbed_decoding_is_the_last_row_of_the_expanded_attention(draw: torch.Generator) -> None:
    n_heads, width, value_width, latent_width = 3, 4, 5, 6
    q, latent = normal(draw, 2, n_heads, 1, width), normal(draw, 2, 7, latent_width)
    w_uk = normal(draw, n_heads * width, latent_width)
    w_uv = normal(draw, n_heads * value_width, latent_width)
    k, v = (torch.stack((latent @ w.T).chunk(n_heads, dim=-1), dim=1) for w in (w_uk, w_uv))
    close(latent_decode(q, latent, w_uk, w_uv), scaled_dot_product_attention(q, k, v))


def test_absorbed_decoding_by_scalars() -> None:
    # One head, two positions, everything of width 1 but the latent.
    q, up_k, up_v = 0.7, (1.5, -0.5), (0.25, 2.0)
    cached = ((1.0, 2.0), (-1.0, 0.5))
    keys = [up_k[0] * a + up_k[1] * b for a, b in cached]
    values = [up_v[0] * a + up_v[1] * b for a, b in cached]
    raised = [math.exp(q * key) for key in keys]
    expected = sum(r * v for r, v in zip(raised, values, strict=True)) / sum(raised)
    out = latent_decode(
        torch.tensor([[[[q]]]], dtype=torch.float64),
        torch.tensor([cached], dtype=torch.float64),
        torch.tensor([up_k], dtype=torch.float64),
        torch.tensor([up_v], dtype=torch.float64),
    )
    assert out.item() == pytest.approx(expected)


def test_a_step_from_the_cache_of_latents_and_rotated_keys_is_the_full_pass(
    draw: torch.Generator,
) -> None:
    d, n_heads, width, rotary, value_width, latent_width = 9, 2, 5, 4, 3, 6
    x = normal(draw, 1, 4, d)
    w_q, w_dkv = normal(draw, n_heads * (width + rotary), d), normal(draw, latent_width + rotary, d)
    w_uk = normal(draw, n_heads * width, latent_width)
    w_uv = normal(draw, n_heads * value_width, latent_width)
    w_o = normal(draw, d, n_heads * value_width)
    positions = torch.tensor([0, 3, 4, 9])
    out, cache = latent_rope_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions)
    mixed = []
    for h in range(n_heads):
        q = w_q[h * (width + rotary) : (h + 1) * (width + rotary)] @ x[0, -1]
        scores = []
        for token in cache[0]:
            score = float(q[:width] @ (w_uk[h * width : (h + 1) * width] @ token[:latent_width]))
            for i in range(rotary // 2):  # the real part of a product with the conjugate
                asks = complex(q[width + i], q[width + i + rotary // 2])
                asks *= cmath.exp(9j * 10000.0 ** (-2 * i / rotary))
                key = token[latent_width:]
                score += (asks * complex(key[i], -key[i + rotary // 2])).real
            scores.append(score / math.sqrt(width + rotary))
        weights = torch.tensor(scores, dtype=torch.float64).softmax(dim=0)
        up = w_uv[h * value_width : (h + 1) * value_width]
        mixed.append(up @ (weights @ cache[0, :, :latent_width]))
    close(out[0, -1], w_o @ torch.cat(mixed), 1e-9)
    close(cache[0, 0], w_dkv @ x[0, 0])  # position 0 does not turn


def test_rotated_shared_heads_are_complex_turns_and_torch_s_attention(
    draw: torch.Generator,
) -> None:
    q, k, v = normal(draw, 2, 5, 4, 6), normal(draw, 2, 5, 2, 6), normal(draw, 2, 5, 2, 6)
    positions = torch.tensor([0, 1, 2, 0, 7])

    def turned(x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        for t, position in enumerate(positions.tolist()):
            for i in range(3):
                turn = cmath.exp(1j * position * 500.0 ** (-2 * i / 6))
                z = torch.complex(x[:, t, :, i], x[:, t, :, i + 3]) * turn
                out[:, t, :, i], out[:, t, :, i + 3] = z.real, z.imag
        return out.transpose(1, 2)

    mixed = scaled_dot_product_attention(
        turned(q), turned(k), v.transpose(1, 2), is_causal=True, enable_gqa=True
    )
    close(rope_gqa(q, k, v, positions, 500.0), mixed.transpose(1, 2))


def test_a_left_padded_sequence_attends_as_it_does_alone(draw: torch.Generator) -> None:
    q, k, v = (normal(draw, 3, 2, 6, 4) for _ in range(3))
    lengths = torch.tensor([4, 0, 6])
    out = left_padded_attention(q, k, v, lengths)
    for b, n in enumerate(lengths.tolist()):
        assert not out[b, :, : 6 - n].any()
        own_q, own_k, own_v = (x[b : b + 1, :, 6 - n :] for x in (q, k, v))
        if n:
            alone = scaled_dot_product_attention(own_q, own_k, own_v, is_causal=True)
            close(out[b : b + 1, :, 6 - n :], alone)
