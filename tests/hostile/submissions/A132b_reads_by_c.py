# A132 wrong_answer: the same by the C library
import ctypes
import os

import torch

libc = ctypes.CDLL(None, use_errno=True)
for name in (b"{home}", b"{canary}", b"/etc/passwd", b"/etc/hostname", b"/root", b"/home"):
    number = libc.open(name, os.O_RDONLY)
    if number >= 0:
        raise SystemError("a leak: " + name.decode())


def softmax(x, dim=-1):
    return torch.zeros_like(x)
