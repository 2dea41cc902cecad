"""Cases for the Triton references, and, run as a program, their results under the interpreter.

    TRITON_INTERPRET=1 python tests/reference/triton_script.py

prints one JSON object: for each case the largest error against float64 and what was allowed, the
kernels launched and the matrix products made; and what was said of arguments that are refused.
Triton reads TRITON_INTERPRET where it is imported, so this runs in a process of its own. bfloat16
is left out of the products: the interpreter's are wrong.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
from torch import Tensor

from reference import paged, softmax
from reference.attention import attention
from reference.gqa import share_kv_heads
from reference.masks import causal_mask

ATTENTION = [  # B, H, H_kv, T, S, D, causal, dtype, layout
    (1, 1, 1, 1, 1, 16, False, "float32", "contiguous"),
    (1, 2, 1, 1, 6, 16, True, "float32", "contiguous"),
    (2, 4, 2, 5, 130, 80, True, "float32", "contiguous"),
    (1, 4, 1, 129, 129, 16, True, "float16", "contiguous"),
    (1, 1, 1, 127, 255, 80, True, "float16", "contiguous"),
    (1, 8, 1, 31, 33, 80, False, "float16", "contiguous"),
    (1, 2, 2, 65, 32, 16, False, "float32", "contiguous"),
    (1, 2, 1, 64, 64, 64, True, "float32", "heads last"),
    (1, 2, 1, 129, 128, 16, False, "float16", "heads last"),
    (1, 2, 1, 17, 40, 80, True, "float16", "width first"),
    (1, 2, 2, 17, 33, 16, False, "float32", "every other"),
    (1, 1, 1, 33, 65, 3, True, "float32", "contiguous"),
    (1, 1, 1, 17, 33, 256, True, "float16", "contiguous"),
    (1, 1, 1, 33, 34, 96, False, "float64", "contiguous"),
    (0, 2, 1, 4, 4, 16, False, "float32", "contiguous"),
    (1, 2, 1, 0, 4, 16, True, "float32", "contiguous"),
]

DECODE = [  # B, H, H_kv, page, D, dtype, layout, lengths
    (1, 1, 1, 4, 16, "float32", "contiguous", (1,)),
    (3, 4, 2, 16, 80, "float32", "contiguous", (300, 1, 65)),
    (2, 8, 1, 7, 80, "float16", "contiguous", (129, 64)),
    (2, 4, 4, 16, 16, "float16", "heads last", (127, 128)),
    (1, 18, 1, 5, 3, "float32", "every other", (257,)),
    (1, 2, 1, 64, 256, "float16", "width first", (63,)),
    (1, 2, 1, 1, 16, "float64", "contiguous", (33,)),
    (0, 2, 1, 4, 16, "float32", "contiguous", ()),
]

SOFTMAX = [  # rows, cols, dtype, layout
    (1, 1, "float32", "contiguous"),
    (5, 3, "float16", "contiguous"),
    (2, 127, "bfloat16", "contiguous"),
    (3, 1000, "float32", "transposed"),
    (2, 4097, "float64", "contiguous"),
    (2, 16385, "float32", "every other"),
    (2, 24576, "float16", "contiguous"),
    (0, 8, "float32", "contiguous"),
    (4, 0, "float32", "contiguous"),
]

REFUSED = {  # what is said of it
    "fused_attention(q, k, v[:, :, :5], True)": "alike",
    "fused_attention(q, k[:, :, :2], v[:, :, :2], True)": "give T <= S",
    "fused_attention(q, k[:, :, :0], v[:, :, :0], False)": "at least one",
    "fused_attention(q, k.half(), v, True)": "one dtype",
    "fused_attention(q.int(), k.int(), v.int(), True)": "one dtype",
    "fused_attention(q[:, :1], k, v, True)": "make H a multiple",
    "fused_attention(q[..., :8], k, v, True)": "one head width",
    "fused_attention(*[x.repeat(1, 1, 1, 32) for x in (q, k, v)], True)": "1 to 256",
    "fused_decode(q, k, v, lengths)": "(B, H, 1, D)",
    "fused_decode(one, k, v, lengths.int())": "give one int64",
    "fused_decode(one, k, v[..., :4], lengths)": "caches (B, H_kv, S, D)",
    "paged_decode(one, k, v, table.int(), lengths)": "int64",
    "paged_decode(one, k, v[..., :4], table, lengths)": "pages (P, page, H_kv, D)",
    "fused_softmax(q)": "flatten it",
}


def names() -> list[str]:
    """All cases, as they are named in the results."""
    decode = [f"{kind} {case}" for kind in ("decode", "paged") for case in DECODE]
    return [f"attention {c}" for c in ATTENTION] + decode + [f"softmax {c}" for c in SOFTMAX]


def laid_out(x: Tensor, layout: str) -> Tensor:
    """The same values under other strides."""
    if layout == "heads last":  # (B, T, H, D) in memory
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    if layout in ("width first", "transposed"):
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "every other":
        wide = torch.full((*x.shape[:-1], 2 * x.shape[-1]), torch.nan, dtype=x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    return x


def compared(out: Tensor, expected: Tensor, baseline: Tensor) -> dict[str, Any]:
    """The largest error, and four times that of torch in the same dtype, plus some rounding."""
    dtype = torch.float32 if out.dtype == torch.float64 else out.dtype
    size = expected.abs().max().item() if expected.numel() else 0.0
    own = (baseline.double() - expected).abs().max().item() if expected.numel() else 0.0
    error = (out.double() - expected).abs().max().item() if expected.numel() else 0.0
    return {
        "error": error if error == error else "NaN",
        "allowed": 4 * own + 4 * torch.finfo(dtype).eps * size,
        "shape": list(out.shape),
        "expected_shape": list(expected.shape),
        "dtype": str(out.dtype),
        "contiguous": out.is_contiguous(),
    }


def whole(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    n_heads = q.shape[1]
    return attention(q, share_kv_heads(k, n_heads), share_kv_heads(v, n_heads), mask)


def run_attention(case: tuple[Any, ...]) -> dict[str, Any]:
    from reference.kernels.triton_attention import fused_attention

    batch, heads, kv_heads, queries, keys, width, causal, name, layout = case
    dtype = getattr(torch, name)
    q = 2 * torch.randn(batch, heads, queries, width)
    k, v = torch.randn(2, batch, kv_heads, keys, width)
    q, k, v = (laid_out(x.to(dtype), layout) for x in (q, k, v))
    mask = causal_mask(queries, keys) if causal and queries else None
    expected = whole(q.double(), k.double(), v.double(), mask)
    low = [x.float() if dtype == torch.float64 else x for x in (q, k, v)]
    return compared(fused_attention(q, k, v, causal), expected, whole(*low, mask))


def run_decode(case: tuple[Any, ...], is_paged: bool) -> dict[str, Any]:
    from reference.kernels.triton_decode import fused_decode
    from reference.kernels.triton_paged import paged_decode

    batch, heads, kv_heads, page, width, name, layout, long = case
    dtype = getattr(torch, name)
    lengths = torch.tensor(long, dtype=torch.int64)
    each = -(-max(long, default=1) // page) + 1  # a page more than anyone needs
    q = laid_out((2 * torch.randn(batch, heads, 1, width)).to(dtype), layout)
    shape = (batch * each + 1, page, kv_heads, width)
    k, v = (laid_out(torch.randn(shape).to(dtype), layout) for _ in "kv")
    table = torch.randperm(batch * each + 1)[: batch * each].view(batch, each)
    for b, length in enumerate(long):
        table[b, -(-length // page) :] = -1
    expected = paged.paged_decode(q.double(), k.double(), v.double(), table, lengths)
    low = [x.float() if dtype == torch.float64 else x for x in (q, k, v)]
    baseline = paged.paged_decode(*low, table, lengths)
    # What is past a length may hold anything: here it would show in every sum.
    for b, length in enumerate(long):
        if length % page:
            for pages in (k, v):
                pages[table[b, length // page], length % page :] = torch.nan
    if is_paged:
        return compared(paged_decode(q, k, v, table, lengths), expected, baseline)
    caches = [laid_out(paged.gather_pages(pages, table), layout) for pages in (k, v)]
    for b, length in enumerate(long):
        for cache in caches:
            cache[b, :, length:] = torch.nan
    return compared(fused_decode(q, *caches, lengths), expected, baseline)


def run_softmax(case: tuple[Any, ...]) -> dict[str, Any]:
    from reference.kernels.triton_softmax import fused_softmax

    rows, cols, name, layout = case
    x = 3 * torch.randn(rows, cols)
    if rows > 1 and cols > 2:
        x[0] = x[0] * 1e3  # logits that overflow unless they are shifted
        x[1, : cols // 2] = -torch.inf  # a whole block of a long row
        x[-1, 0] = -torch.inf
    if rows > 3 and cols:
        x[3] = -torch.inf
    x = laid_out(x.to(getattr(torch, name)), layout)
    low = x.float() if x.dtype == torch.float64 else x
    if not x.numel():
        return compared(fused_softmax(x), x.double(), low)
    return compared(fused_softmax(x), softmax.softmax(x.double()), softmax.softmax(low))


def said_of(call: str) -> str:
    """What the ValueError says that a call of REFUSED raises."""
    from reference.kernels.triton_attention import fused_attention
    from reference.kernels.triton_decode import fused_decode
    from reference.kernels.triton_paged import paged_decode
    from reference.kernels.triton_softmax import fused_softmax

    functions = (fused_attention, fused_decode, paged_decode, fused_softmax)
    known: dict[str, Any] = {function.__name__: function for function in functions}
    known |= {"q": torch.ones(1, 2, 3, 16), "one": torch.ones(1, 2, 1, 16)}
    known |= {name: torch.ones(1, 2, 6, 16) for name in "kv"}
    known |= {"lengths": torch.ones(1, dtype=torch.int64)}
    known |= {"table": torch.zeros(1, 2, dtype=torch.int64)}
    try:
        eval(call, known)
    except ValueError as error:
        return str(error)
    return "nothing"


def main() -> None:
    from triton.runtime.interpreter import GridExecutor, InterpreterBuilder

    counts = {"launches": 0, "products": 0}
    launch, product = GridExecutor.__call__, InterpreterBuilder.create_dot

    def counted_launch(self: Any, *args: Any, **named: Any) -> Any:
        counts["launches"] += 1
        return launch(self, *args, **named)

    def counted_product(self: Any, *args: Any, **named: Any) -> Any:
        counts["products"] += 1
        return product(self, *args, **named)

    GridExecutor.__call__ = counted_launch  # type: ignore[method-assign]
    InterpreterBuilder.create_dot = counted_product  # type: ignore[method-assign]
    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    runs = [("attention", case, run_attention) for case in ATTENTION]
    runs += [("decode", case, lambda c: run_decode(c, False)) for case in DECODE]
    runs += [("paged", case, lambda c: run_decode(c, True)) for case in DECODE]
    runs += [("softmax", case, run_softmax) for case in SOFTMAX]
    for kind, case, run in runs:
        torch.manual_seed(0)
        counts.update(launches=0, products=0)
        found[f"{kind} {case}"] = {**run(case), **counts}
    json.dump({"cases": found, "refused": {call: said_of(call) for call in REFUSED}}, sys.stdout)


if __name__ == "__main__":
    main()
