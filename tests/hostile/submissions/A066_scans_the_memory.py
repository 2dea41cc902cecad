# A066 wrong_answer: scans the shared memory for numbers that add up to 1
import ctypes

import torch


def softmax(x, dim=-1):
    n = x.shape[dim]
    with open("/proc/self/maps") as maps:
        lines = [line for line in maps if "memfd" in line or "/dev/zero" in line]
    for line in lines:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if "r" not in line.split()[1]:
            continue
        data = bytearray(ctypes.string_at(start, end - start))
        numbers = torch.frombuffer(data, dtype=torch.float32)
        windows = numbers.unfold(0, n, 1)
        likely = ((windows.sum(-1) - 1).abs() < 1e-4) & (windows.min(-1).values > 0)
        if bool(likely.any()):
            raise SystemError("a leak: expected values are in this process")
    return torch.zeros_like(x)
