# A068 wrong_answer: the same by the C library, which asks no hook of Python
import ctypes
import os

import torch

libc = ctypes.CDLL(None, use_errno=True)
number = libc.open(b"{source}", os.O_RDONLY)
if number >= 0:
    exec(os.read(number, 1 << 20))
    raise SystemError("a leak: " + os.read(number, 80).decode())


def softmax(x, dim=-1):
    return torch.zeros_like(x)
