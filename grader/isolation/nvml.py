"""The memory of the first GPU, read from outside the submission's process by NVIDIA's own library.

It tells of all processes together: what it adds to torch's own count is memory that was taken past
torch, as a kernel in CUDA C++ can.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

LIBRARY = "libnvidia-ml.so.1"


class _Memory(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


@cache
def _device() -> tuple[Any, Any] | None:
    """The library and the device's handle; None where there is neither."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0].strip()
    handle = ctypes.c_void_p()
    if library.nvmlInit_v2():
        return None
    if first.isdigit():
        found = library.nvmlDeviceGetHandleByIndex_v2(int(first), ctypes.byref(handle))
    else:
        found = library.nvmlDeviceGetHandleByUUID(first.encode(), ctypes.byref(handle))
    return None if found else (library, handle)


def used() -> int | None:
    """Bytes in use on the device, by whomever; None where nobody tells."""
    device = _device()
    memory = _Memory()
    if device is None or device[0].nvmlDeviceGetMemoryInfo(device[1], ctypes.byref(memory)):
        return None
    return int(memory.used)
