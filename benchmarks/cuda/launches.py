"""How many kernels a call launches, by torch's profiler."""

from __future__ import annotations

from collections.abc import Callable

import torch


def launched(call: Callable[[], object]) -> list[str]:
    """The names of the kernels of one call, copies and fills of memory left out."""
    from torch._C._autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    call()  # what is compiled once is not the call's
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    return [
        event.name
        for event in seen.events()
        if event.device_type == DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset"))
    ]
