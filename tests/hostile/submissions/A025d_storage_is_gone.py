# A025 crashed|wrong_answer|runtime_error|memory_limit: a tensor over memory that is unmapped
import ctypes

import numpy as np
import torch


def softmax(x, dim=-1):
    kind = {torch.float64: np.float64}.get(x.dtype, np.float32)
    address = (ctypes.c_byte * 1).from_address(8)
    flat = np.frombuffer((ctypes.c_byte * (x.numel() * 8)).from_address(8), kind)
    return torch.from_numpy(flat[: x.numel()]).view(x.shape)
