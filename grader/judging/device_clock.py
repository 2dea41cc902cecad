"""Whose time counts on a device: its own clock, as far as the judge's agrees.

The device's clock is precise, and read in the submission's process, which could lie. The judge's
runs from its word to the sign that all work is done; what a call takes there that does nothing is
taken off. It sees all work, on whatever stream, and cannot be reached, but the host's launching is
in it. So what a liar gains is that launching, and no more.
"""

from __future__ import annotations

from grader.isolation.calls import Taken

LAUNCHING = 200e-6
"""Seconds of the host's that a call may take beside its work, whatever its length."""

APART = 0.1
"""By how much the two clocks may differ besides, as a part of the time."""

MARGIN = 1.15
"""A bandwidth that was measured falls short of the true one by less than this."""

SHORTEST = 1e-6  # seconds: twice the grain of the device's clock


def seconds(taken: Taken, nothing: Taken) -> float:
    """What a call took; `nothing` is what one took that does nothing, in the same round."""
    outside = taken.wall - nothing.wall - LAUNCHING
    return max(taken.seconds - nothing.seconds, outside, SHORTEST)


def agree(taken: Taken, nothing: Taken) -> bool:
    """Whether the judge's clock confirms the device's: else there was work outside its stream, or
    one of the clocks lies."""
    inside, outside = taken.seconds, taken.wall - nothing.wall
    return abs(outside - inside) <= APART * inside + LAUNCHING


def floor(bytes_read: int, bytes_a_second: float) -> float:
    """Seconds below which no kernel that reads its arguments can be, by the memory's roofline.

    The results do not count: they may still be on their way to memory when the kernel has ended.
    """
    return bytes_read / (MARGIN * bytes_a_second) if bytes_a_second > 0 else 0.0
