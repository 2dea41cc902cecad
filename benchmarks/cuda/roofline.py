"""How fast the hardware can be: what the vendor states, or a little more than what is measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch

from benchmarks.cuda.device import Device

STATED = {
    # dense half-precision FLOP/s, float32 FLOP/s outside tensor cores, bytes/s; data sheets
    "H200": (989e12, 67e12, 4.8e12),
    "H100 PCIe": (756e12, 51e12, 2.04e12),
    "H100": (989e12, 67e12, 3.36e12),
    "A100": (312e12, 19.5e12, 2.04e12),
}
MARGIN = 1.15
"""A measured peak falls short of the true one by less than this."""


@dataclass(frozen=True)
class Peaks:
    """FLOP/s by the bytes of an element, and bytes/s: upper bounds."""

    half: float
    single: float
    bandwidth: float

    def floor(self, flops: float, bytes_: float, element: int) -> float:
        """Seconds below which no kernel can be."""
        rate = self.half if element == 2 else self.single
        return max(flops / rate, bytes_ / self.bandwidth)


def seconds(device: Device, call: Callable[[], object], repeats: int = 7) -> float:
    """The median time of a call of ours, on a warm device."""
    call()
    times = []
    for _ in range(repeats):
        device.chill()
        device.lead()
        first = device.mark()
        call()
        second = device.mark()
        device.synchronize()
        times.append(device.between(first, second))
    return statistics.median(times)


def measured(device: Device, name: str, side: int = 8192, copied: int = 1 << 30) -> Peaks:
    """The peaks of this device: a matrix product of `side`, and a copy of `copied` bytes."""
    rates = {}
    for dtype in (torch.bfloat16, torch.float32):
        n = side if dtype.itemsize == 2 else side // 2
        a = torch.randn(n, n, device=device.place).to(dtype)  # (n, n)
        b = torch.empty_like(a)
        rates[dtype] = 2 * n**3 / seconds(device, lambda a=a, b=b: torch.matmul(a, a, out=b))
    source = torch.zeros(copied, dtype=torch.int8, device=device.place)
    target = torch.empty_like(source)
    moved = 2 * copied / seconds(device, lambda: target.copy_(source))
    found = (MARGIN * rates[torch.bfloat16], MARGIN * rates[torch.float32], MARGIN * moved)
    stated = next((peaks for word, peaks in STATED.items() if word in name), (0.0, 0.0, 0.0))
    return Peaks(*(max(pair) for pair in zip(found, stated, strict=True)))
