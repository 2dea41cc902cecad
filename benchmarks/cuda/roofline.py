"""How fast the hardware can be: what the vendor states, or a little more than what is measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch

from benchmarks.cuda.device import Device

STATED = {
    # dense half-precision FLOP/s, bytes/s; data sheets
    "H200": (989e12, 4.8e12),
    "H100 PCIe": (756e12, 2.04e12),
    "H100": (989e12, 3.36e12),
    "A100": (312e12, 2.04e12),
}
MARGIN = 1.15
"""A measured peak falls short of the true one by less than this."""


@dataclass(frozen=True)
class Peaks:
    """FLOP/s in half precision, and bytes/s: upper bounds; and the size of the cache."""

    half: float
    bandwidth: float
    cache: float = 0.0  # bytes that may be on their way to memory when the kernel has ended

    def floor(self, flops: float, bytes_: float, element: int) -> float:
        """Seconds below which no kernel can be, by the bytes of an element."""
        # Float32 too may be made of products on the tensor cores, of TF32 at half the rate.
        rate = self.half if element == 2 else self.half / 2
        return max(flops / rate, (bytes_ - self.cache) / self.bandwidth)


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
    a = torch.randn(side, side, device=device.place).to(torch.bfloat16)  # (side, side)
    b = torch.empty_like(a)
    rate = 2 * side**3 / seconds(device, lambda: torch.matmul(a, a, out=b))
    source = torch.zeros(copied, dtype=torch.int8, device=device.place)
    target = torch.empty_like(source)
    moved = 2 * copied / seconds(device, lambda: target.copy_(source))
    half, bandwidth = next((peaks for word, peaks in STATED.items() if word in name), (0.0, 0.0))
    return Peaks(max(MARGIN * rate, half), max(MARGIN * moved, bandwidth), device.cache)
