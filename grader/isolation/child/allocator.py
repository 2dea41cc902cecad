"""What glibc does with memory that is freed, so that a measurement means the same in each process.

On its own it keeps some for the next tensor and returns some to the system, by what was freed
before. Another C library is left alone.
"""

from __future__ import annotations

import contextlib
import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4  # of malloc.h
MAPPED_BYTES = 64 << 10
NEVER = 2**31 - 1  # free bytes from which they go back
TRIM_THRESHOLD, MMAP_MAX = 128 << 10, 65536  # glibc's own


def free_at_once() -> None:
    """From now on map large tensors one by one, and unmap them when they are freed.

    Otherwise small tensors between them keep freed ones resident, as if all were in use.
    """
    _set(M_MMAP_THRESHOLD, MAPPED_BYTES)


def give_back_freed() -> None:
    """Return what is free, so that the next reading begins without it."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def keep_freed() -> None:
    """From now on use freed memory again, of whatever size, and do not give it back.

    Otherwise each tensor beyond 32 MiB, and many a smaller one, comes from the system page by page:
    in one process and not in another, at one size and not at the next. A softmax in four passes
    took 8.5 ms in one process and 19.5 ms in the next.
    """
    _set(M_MMAP_MAX, 0)
    _set(M_TRIM_THRESHOLD, NEVER)


def as_at_first() -> None:
    """Take `keep_freed` back."""
    _set(M_MMAP_MAX, MMAP_MAX)
    _set(M_TRIM_THRESHOLD, TRIM_THRESHOLD)
    give_back_freed()


def _set(option: int, value: int) -> None:
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).mallopt(option, value)
