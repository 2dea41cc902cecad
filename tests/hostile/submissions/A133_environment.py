# A133 passed: looks for secrets in its environment
import ctypes
import os

import torch

text = repr(os.environ)
try:
    with open("/proc/self/environ", "rb") as file:
        text += file.read().decode()
except OSError:
    pass
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
number = 0
while environ[number]:
    text += environ[number].decode("utf-8", "replace")
    number += 1
if "{mark}" in text:
    raise SystemError("a leak: the environment")


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
