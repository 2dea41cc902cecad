"""Inputs for the kernel drills: lengths past a block of the families, 64."""

from __future__ import annotations

import torch
from drawing import Args, drawing

DRILLS = {
    "fused-softmax": ("kernels.fused_softmax.fused_softmax", "fused_softmax.fused_softmax"),
    "fused-attention": (
        "kernels.fused_attention.fused_attention",
        "fused_attention.fused_attention",
    ),
    "fused-decode": ("kernels.fused_decode.fused_decode", "fused_decode.fused_decode"),
    "paged-decode-kernel": ("kernels.paged_decode.paged_decode", "fused_decode.paged_decode"),
}

# Those of paged-decode-kernel are the ones of paged-decode, and tested there.
BASELINES = {
    "fused-softmax": ("kernels", "base_two", "columns", "rows"),
    "fused-attention": ("kernels", "dense", "merged", "two_pass", "base_two"),
    "fused-decode": ("kernels", "dense", "per_sequence", "backwards", "splits"),
}


def _softmax(dtype: torch.dtype) -> list[Args]:
    draw = drawing(51, dtype)
    if dtype == torch.bfloat16:
        return [(draw(4, 13, std=2.0),), (draw(3, 70, std=2.0),)]
    late, above, below = draw(3, 140), draw(3, 140), draw(3, 140)
    late[:, 129:] += 5.0
    above[:, 130:] += 1500.0
    below[:, :12] += 1500.0
    apart = draw(5, 11)
    apart += torch.tensor([1000.0, 0.0, -1000.0, -97000.0, -70.0]).to(dtype)[:, None]
    return [
        (draw(4, 13, std=2.0),), (draw(9, 9),), (draw(4, 1),), (late,), (above,), (below,),
        (apart,), (draw(2, 65) - 97000.0,), (draw(3, 33) - 200.0,),
    ]  # fmt: skip


def _attention(dtype: torch.dtype) -> list[Args]:
    draw = drawing(52, dtype)

    def args(
        b: int, h: int, h_kv: int, t: int, s: int, d: int, causal: bool, std: float = 1.5
    ) -> Args:
        q, k, v = draw(b, h, t, d, std=std), draw(b, h_kv, s, d, std=std), draw(b, h_kv, s, d)
        return q, k, v, causal

    plain = [args(2, 4, 2, 17, 33, 8, False), args(2, 6, 3, 5, 40, 5, True)]
    if dtype == torch.bfloat16:
        return plain
    late, early = args(1, 2, 1, 3, 150, 8, False), args(1, 2, 1, 3, 140, 4, False)
    late[1][..., 130:, :] *= 4.0
    early[0][..., 0] = 50.0
    early[1][..., :12, 0] += 60.0
    low, lower, large = (args(1, 2, 1, 4, s, 4, True) for s in (70, 70, 5))
    low[0][..., 0], low[1][..., 0] = 15.0, -20.0
    lower[0][..., 0], lower[1][..., 0] = 300.0, -300.0
    large[0][..., 0], large[1][..., 0] = 400.0, -470.0
    large[0][..., 1, :, 0] = -400.0
    return [
        *plain, args(1, 2, 1, 131, 131, 4, True), args(1, 2, 2, 1, 129, 4, True),
        args(2, 2, 1, 70, 7, 3, False), late, early, low, lower, large,
    ]  # fmt: skip


def _decode(dtype: torch.dtype) -> list[Args]:
    draw = drawing(53, dtype)

    def args(h: int, h_kv: int, s: int, d: int, lengths: list[int]) -> Args:
        b = len(lengths)
        q, k, v = draw(b, h, 1, d, std=1.5), draw(b, h_kv, s, d), draw(b, h_kv, s, d)
        return q, k, v, torch.tensor(lengths)

    plain = [args(4, 2, 33, 6, [17, 33, 5]), args(6, 3, 150, 5, [63, 65, 129, 150])]
    if dtype == torch.bfloat16:
        return plain
    late, early = args(2, 1, 150, 8, [150, 140]), args(2, 1, 140, 4, [140])
    late[1][..., 130:, :] *= 4.0
    early[0][..., 0] = 50.0
    early[1][..., :12, 0] += 60.0
    low, lower, large = (args(2, 1, s, 4, [s, 3]) for s in (70, 70, 5))
    low[0][..., 0], low[1][..., 0] = 15.0, -20.0
    lower[0][..., 0], lower[1][..., 0] = 300.0, -300.0
    large[0][..., 0], large[1][..., 0] = 400.0, -470.0
    large[0][:, 1, :, 0] = -400.0
    return [*plain, args(4, 2, 131, 4, [1, 3, 16]), late, early, low, lower, large]


def _paged(dtype: torch.dtype) -> list[Args]:
    draw = drawing(54, dtype)
    source = torch.Generator().manual_seed(55)

    def args(h: int, h_kv: int, page: int, d: int, lengths: list[int], spare: int = 1) -> Args:
        needed = [-(-length // page) for length in lengths]
        pages = torch.randperm(sum(needed) + spare, generator=source).tolist()
        table = torch.full((len(lengths), max(needed)), -1)
        for row, count in zip(table, needed, strict=True):
            row[:count] = torch.tensor([pages.pop() for _ in range(count)])
        pools = (draw(sum(needed) + spare, page, h_kv, d) for _ in range(2))
        return draw(len(lengths), h, 1, d, std=1.5), *pools, table, torch.tensor(lengths)

    plain = [args(4, 2, 5, 6, [8, 13, 4]), args(6, 3, 4, 5, [8, 12])]
    if dtype == torch.bfloat16:
        return plain
    late, early = args(2, 2, 8, 8, [20, 15]), args(2, 1, 4, 4, [11])
    for row in (0, 1):
        late[1][late[3][row, (20, 15)[row] // 8]] *= 4.0
    early[0][..., 0] = 50.0
    early[1][early[3][0, 0], :, :, 0] += 60.0
    low, lower, large = (args(2, 1, 3, 4, [7, 2]) for _ in range(3))
    low[0][..., 0], low[1][..., 0] = 15.0, -20.0
    lower[0][..., 0], lower[1][..., 0] = 300.0, -300.0
    large[0][..., 0], large[1][..., 0] = 400.0, -470.0
    large[0][:, 1, :, 0] = -400.0
    return [*plain, args(4, 2, 4, 4, [1, 4, 5]), late, early, low, lower, large]


CASES = {
    "fused-softmax": _softmax,
    "fused-attention": _attention,
    "fused-decode": _decode,
    "paged-decode-kernel": _paged,
}

LOOSE: dict[str, float] = {}
GRADED: list[str] = []
