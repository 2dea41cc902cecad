"""The two roofs of the roofline model. No torch here.

Source: Williams, Waterman and Patterson, "Roofline" (2009): FLOP/s are at most the smaller of the
peak, and of intensity times bandwidth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Roof:
    """`flops` FLOP/s in float32 and `bandwidth` byte/s, of one thread."""

    flops: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        """FLOP per byte from which the peak, and not the memory, is the bound."""
        return self.flops / self.bandwidth

    def at(self, intensity: float) -> float:
        """FLOP/s that are possible at so many FLOP per byte."""
        return min(self.flops, self.bandwidth * intensity)

    def to_json(self) -> dict[str, float]:
        """As `of` reads it."""
        return {"flops_per_second": self.flops, "bytes_per_second": self.bandwidth}

    @classmethod
    def of(cls, data: Mapping[str, float]) -> Roof:
        """From `to_json`."""
        return cls(float(data["flops_per_second"]), float(data["bytes_per_second"]))
