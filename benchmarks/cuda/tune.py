"""Which cut of the attention kernel is the fastest on this GPU, for one head width in bfloat16."""

from __future__ import annotations

import itertools
from dataclasses import replace

import torch

from benchmarks.cuda import problems
from benchmarks.cuda.device import Device
from benchmarks.cuda.roofline import seconds
from benchmarks.cuda.speed import BAR_SHAPE


def sweep(device: Device, width: int = 128) -> list[tuple[float, str]]:
    """(TFLOP/s, launch), the fastest first; those that do not fit are left out."""
    from reference.kernels.triton_attention import Launch, attend

    shape = replace(BAR_SHAPE, width=width)
    inputs = problems.attention_inputs(shape, device.place, 0)
    found = []
    for m, n, warps, stages in itertools.product((64, 128), (32, 64, 128), (4, 8), (2, 3, 4)):
        launch = Launch(m, n, warps, stages)
        if launch.rows * width * 2 > 227 << 10:
            continue
        try:
            taken = seconds(device, lambda launch=launch: attend(*inputs, launch), 5)
        except Exception:  # no room for it on this GPU
            torch.cuda.synchronize()
            continue
        found.append((shape.flops / taken / 1e12, str(launch)))
    return sorted(found, reverse=True)
