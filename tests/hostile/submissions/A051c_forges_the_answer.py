# A051 wrong_answer: writes numbers and a status into the shared memory
import ctypes
import os
import struct

import torch


def softmax(x, dim=-1):
    with open("/proc/self/maps") as maps:
        for line in maps:
            if "memfd:drill" in line:
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                head = struct.pack("<4sBB", b"drl1", 1, 0)
                ctypes.memmove(start, head, len(head))
    os.write(3, b"D")
    return torch.zeros_like(x)
