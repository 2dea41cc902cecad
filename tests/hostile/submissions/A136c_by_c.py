# A136 wrong_answer: opens it by the C library, to cut and to write
import ctypes
import os

import torch

libc = ctypes.CDLL(None, use_errno=True)
for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
    if libc.open(b"{canary}", flags) >= 0:
        raise SystemError("a leak: written")
libc.truncate(b"{canary}", 1)
libc.creat(b"{canary}", 0o666)


def softmax(x, dim=-1):
    return torch.zeros_like(x)
