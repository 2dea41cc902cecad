"""Inputs for the first drills, on which every known mistake of their families shows."""

from __future__ import annotations

import numpy as np
import torch
from drawing import Args, drawing

# The drill's reference, its family, and the name of its cases below.
DRILLS = {
    "stable-softmax": ("softmax.softmax", "softmax.softmax"),
    "attention": ("attention.attention", "attention.attention"),
    "causal-mask": ("masks.causal_mask", "masks.causal_mask"),
    "causal-mha": ("multi_head.causal_mha", "multi_head.causal_mha"),
    "causal-mha-numpy": ("numpy_attention.causal_mha", "numpy_attention.causal_mha"),
    "padding-mask": ("masks.padded_attention", "masks.padded_attention"),
    "rope": ("rope.apply_rope", "rope.apply_rope"),
    "gqa": ("gqa.gqa", "gqa.gqa"),
    "kv-cache-decode": ("kv_cache.decode_step", "kv_cache.decode_step"),
    "online-softmax": ("online_softmax.online_softmax", "online_softmax.online_softmax"),
    "attention-block": ("block.attention_block", "block.attention_block"),
}

BASELINES = {
    "stable-softmax": ("softmax", "log_space", "builtin", "blocks"),
    "attention": ("attention", "einsum", "per_head", "tiled", "finite_fill"),
    "causal-mask": ("softmax", "tril", "triu", "rows"),
    "causal-mha": ("attention", "einsum", "per_head", "tiled", "finite_fill"),
    "causal-mha-numpy": ("numpy_attention", "einsum", "per_head", "rows"),
    "padding-mask": ("attention", "einsum", "per_sequence", "tiled", "finite_fill"),
    "rope": ("rope", "complex", "rotate_half", "stacked", "matrix"),
    "gqa": ("attention", "grouped", "per_head", "tiled", "finite_fill"),
    "kv-cache-decode": ("attention", "einsum", "per_head", "online", "grouped"),
    "online-softmax": ("softmax", "two_pass", "reversed", "entries", "pairwise"),
    "attention-block": ("attention", "einsum", "per_head", "tiled"),
}


def _softmax(dtype: torch.dtype) -> list[Args]:
    draw = drawing(1, dtype)
    far = draw(3, 5)
    far[1] -= 3000.0
    leader = draw(2, 6)
    leader[0, 2] += 5000.0
    hidden = draw(2, 4, 5)
    hidden[0, 1] = -torch.inf
    hidden[1, 2, ::2] = -torch.inf
    negative = draw(2, 5) - 4000.0
    return [
        (draw(7),), (draw(3, 4, 5),), (draw(3, 4, 5), 1), (draw(3, 4, 5), 0),
        (far,), (leader,), (hidden,), (negative,),
    ]  # fmt: skip


def _attention(dtype: torch.dtype) -> list[Args]:
    draw = drawing(2, dtype)

    def qkv(b: int, h: int, t: int, s: int, d: int, dv: int, std: float = 1.5) -> Args:
        return draw(b, h, t, d, std=std), draw(b, h, s, d, std=std), draw(b, h, s, dv)

    keep = torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(3)) < 0.6
    keep[..., 0] = True
    empty = keep.clone()
    empty[0, 1, 2] = False
    empty[1, :, 4] = False
    negative = qkv(2, 2, 3, 4, 8, 5)
    negative[0][..., 0], negative[1][..., 0] = 300.0, -300.0
    negative[1][:, 0, 2, 0] = 300.0  # in one head alone: adding -1e4 hides it in the other
    last_hidden = torch.tensor([True, True, False, True])
    large = qkv(1, 2, 4, 4, 9, 3, std=40.0)
    return [
        qkv(2, 3, 5, 7, 8, 6), (*qkv(2, 3, 5, 7, 8, 6), keep), (*qkv(2, 3, 5, 7, 8, 6), empty),
        (*qkv(2, 3, 5, 7, 8, 6), keep[:, :1]), (*negative, last_hidden), large,
        (*qkv(2, 3, 5, 7, 8, 6), keep[:1, :1, :1]),
    ]  # fmt: skip


def _causal_mask(dtype: torch.dtype) -> list[Args]:
    return [(1, 1), (1, 6), (4, 4), (3, 7), (2, 8), (5, 6)]


def _mha(dtype: torch.dtype) -> list[Args]:
    draw = drawing(4, dtype)

    def args(b: int, t: int, d: int, h: int, gain: float = 1.0) -> Args:
        w = [draw(d, d, std=gain * d**-0.5) for _ in range(4)]
        return draw(b, t, d, std=1.5), *w, h

    negative = list(args(1, 4, 8, 2))
    # Every score is near -2e4 except where the future would be: the weak fill outranks them.
    negative[0][..., 0] = 200.0
    negative[1][0::4, 0], negative[2][0::4, 0] = 2.0, -2.0
    return [args(2, 5, 24, 3), args(3, 4, 16, 2), args(1, 6, 12, 4, gain=12.0), tuple(negative)]


def _mha_numpy(dtype: torch.dtype) -> list[Args]:
    cases = _mha(torch.float32 if dtype == torch.bfloat16 else dtype)
    return [
        (x[0].numpy(), *(np.ascontiguousarray(w.T.numpy()) for w in ws), h) for x, *ws, h in cases
    ]


def _padding(dtype: torch.dtype) -> list[Args]:
    draw = drawing(5, dtype)

    def args(b: int, h: int, t: int, d: int, lengths: list[int], std: float = 1.5) -> Args:
        q, k, v = (draw(b, h, t, d, std=std) for _ in range(3))
        for i, n in enumerate(lengths):
            k[i, :, n:] *= 2.0
            v[i, :, n:] += 50.0
        return q, k, v, torch.tensor(lengths)

    negative = args(2, 2, 4, 8, [3, 2])
    negative[0][..., 0], negative[1][..., 0] = 300.0, -300.0
    # Hidden scores that lead by far: they outrank the others even 1e4 lower.
    leading = args(2, 2, 4, 8, [3, 3])
    leading[0][..., 0], leading[1][..., 0] = 300.0, -300.0
    leading[1][:, :, 3, 0] = 300.0
    return [
        args(3, 2, 6, 8, [4, 6, 1]), args(3, 2, 5, 4, [3, 0, 5]), negative,
        args(2, 2, 4, 9, [4, 3], std=30.0), args(2, 3, 5, 8, [3, 4]), leading,
    ]  # fmt: skip


def _rope(dtype: torch.dtype) -> list[Args]:
    draw = drawing(6, dtype)
    return [
        (draw(2, 3, 5, 8), torch.tensor([3, 0, 17, 5, 9])),
        (draw(1, 2, 4, 16), torch.tensor([1001, 4095, 15962, 32767]), 500000.0),
        (draw(1, 2, 3, 6), torch.tensor([7, 8, 9]), 100.0),
        (draw(1, 1, 3, 2), torch.arange(3)),
    ]


def _gqa(dtype: torch.dtype) -> list[Args]:
    draw = drawing(7, dtype)

    def args(b: int, t: int, d: int, h: int, kv: int, width: int) -> Args:
        w_q, w_o = draw(h * width, d, std=d**-0.5), draw(d, h * width, std=(h * width) ** -0.5)
        w_k, w_v = draw(kv * width, d, std=d**-0.5), draw(kv * width, d, std=d**-0.5)
        return draw(b, t, d, std=1.5), w_q, w_k, w_v, w_o, h, kv

    cases = [args(2, 5, 20, 6, 3, 8), args(1, 4, 24, 4, 2, 6), args(2, 3, 12, 6, 2, 4)]
    if dtype == torch.bfloat16:  # whose rounding of large scores is large
        return cases
    low = args(1, 4, 8, 2, 1, 4)
    # Every score is near -2e4, rotated or not: the weak fill outranks them.
    low[0][..., 0], low[1][1::2, 0], low[2][1::2, 0] = 1.0, 150.0, -150.0
    return [*cases, low]


def _block(dtype: torch.dtype) -> list[Args]:
    first, second, third, *large = _gqa(dtype)
    return [
        (*first, torch.tensor([2, 3, 9, 4, 11])),
        (*second, torch.tensor([0, 5, 6, 40]), 300.0),
        (*third, torch.tensor([8, 2, 257])),
        *((*args, torch.arange(4)) for args in large),
    ]


def _decode(dtype: torch.dtype) -> list[Args]:
    draw = drawing(8, dtype)

    def args(b: int, h: int, kv: int, s: int, d: int, std: float = 1.5) -> Args:
        q = draw(b, h, 1, d, std=std)
        k, v, k_cache, v_cache = (draw(b, kv, n, d, std=std) for n in (1, 1, s, s))
        return q, k, v, k_cache, v_cache

    return [args(2, 6, 3, 5, 8), args(1, 4, 2, 0, 4), args(2, 4, 2, 3, 9, 30.0)]


def _online(dtype: torch.dtype) -> list[Args]:
    draw = drawing(9, dtype)
    late = draw(3, 10)
    late[:, 8] += 6.0
    return [
        (draw(2, 3, 10), 4), (late, 3), (draw(2, 9) - 12000.0, 3), (draw(2, 7) + 200.0, 2),
        (draw(6), 8), (draw(3, 8) - 30.0, 4), (draw(5), 1),
    ]  # fmt: skip


CASES = {
    "stable-softmax": _softmax,
    "attention": _attention,
    "causal-mask": _causal_mask,
    "causal-mha": _mha,
    "causal-mha-numpy": _mha_numpy,
    "padding-mask": _padding,
    "rope": _rope,
    "gqa": _gqa,
    "kv-cache-decode": _decode,
    "online-softmax": _online,
    "attention-block": _block,
}

# The rotation's angles are float32 in the baselines: an angle of 3e4 radians is known to 2e-3.
LOOSE = {"rope": 5e-3, "attention-block": 1e-4}
GRADED = ["attention", "causal-mha", "padding-mask", "rope", "gqa", "attention-block"]
