"""Answers to `online-softmax`: what is fair, and what costs too much."""

from __future__ import annotations

ONLINE = """
import torch
def online_softmax(x, block_size):
    m = x.amax(-1)
"""

RIGHT = {
    "in place on a cast": """
import torch
def online_softmax(x, block_size):
    y = x.to(torch.float64, copy=True)
    m = torch.full(x.shape[:-1], -torch.inf, dtype=y.dtype)
    l = torch.zeros_like(m)
    for part in y.split(block_size, -1):
        new = torch.maximum(m, part.amax(-1))
        l = l * torch.exp(m - new) + part.sub_(new[..., None]).exp_().sum(-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
""",
    "padded first": """
import torch
def online_softmax(x, block_size):
    pad = -x.shape[-1] % block_size
    y = torch.full((*x.shape[:-1], x.shape[-1] + pad), -torch.inf, dtype=x.dtype)
    y[..., : x.shape[-1]] = x
    m = torch.full(x.shape[:-1], -torch.inf)
    l = torch.zeros(x.shape[:-1])
    for part in y.split(block_size, -1):
        new = torch.maximum(m, part.float().amax(-1))
        l = l * torch.exp(m - new) + torch.exp(part.float() - new[..., None]).sum(-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
""",
    "the summaries of all blocks, then joined": """
import torch
def online_softmax(x, block_size):
    parts = [part.float() for part in x.split(block_size, -1)]
    ms = torch.stack([part.amax(-1) for part in parts], -1)
    pairs = zip(parts, ms.unbind(-1))
    ls = torch.stack([(part - m[..., None]).exp().sum(-1) for part, m in pairs], -1)
    m = ms.amax(-1)
    return m.to(x.dtype), (ls * (ms - m[..., None]).exp()).sum(-1).to(x.dtype)
""",
}

RIGHT["a copy by NumPy, worked on in place block by block"] = """
import numpy as np
import torch
def online_softmax(x, block_size):
    a = np.array(x.double())
    m, l = np.full(a.shape[:-1], -np.inf), np.zeros(a.shape[:-1])
    for start in range(0, a.shape[-1], block_size):
        part = a[..., start : start + block_size]
        new = np.maximum(m, part.max(-1))
        part -= new[..., None]
        np.exp(part, out=part)
        l = l * np.exp(m - new) + part.sum(-1)
        m = new
    return torch.as_tensor(m).to(x.dtype), torch.as_tensor(l).to(x.dtype)
"""

TOO_COSTLY: dict[str, tuple[str, str]] = {
    "whole rows": (
        ONLINE + "    return m, torch.exp(x - m[..., None]).sum(-1)\n",
        "Line 5 computes a tensor of (8, 4096), 32,768 elements; at R=8 N=4096 K=64 at most",
    ),
    "whole rows, one after the other": (
        ONLINE
        + """
    flat = x.reshape(-1, x.shape[-1])
    l = torch.stack([torch.exp(row - top).sum() for row, top in zip(flat, m.reshape(-1))])
    return m, l.reshape(m.shape)
""",
        "a tensor of (4096,)",
    ),
    "exponentials kept in a buffer": (
        ONLINE
        + """
    e = torch.empty_like(x)
    for a in range(0, x.shape[-1], block_size):
        e[..., a : a + block_size] = torch.exp(x[..., a : a + block_size] - m[..., None])
    return m, e.sum(-1)
""",
        "32,768 elements",
    ),
    "exponentials kept in a list": (
        ONLINE
        + """
    parts = [torch.exp(part - m[..., None]) for part in x.split(block_size, -1)]
    return m, torch.cat(parts, -1).sum(-1)
""",
        "32,768 elements",
    ),
    "in NumPy": (
        """
import numpy as np
import torch
def online_softmax(x, block_size):
    a = x.double().numpy()
    m = a.max(-1)
    l = np.exp(a - m[..., None]).sum(-1)
    return torch.as_tensor(m).to(x.dtype), torch.as_tensor(l).to(x.dtype)
""",
        "computes a tensor of (8, 4096), 32,768 elements",
    ),
    "in place on a copy by NumPy": (
        """
import numpy as np
import torch
def online_softmax(x, block_size):
    a = np.array(x.double())
    m = a.max(-1)
    a -= m[..., None]
    np.exp(a, out=a)
    return torch.as_tensor(m).to(x.dtype), torch.as_tensor(a.sum(-1)).to(x.dtype)
""",
        "computes a tensor of (8, 4096), 32,768 elements",
    ),
    "with dispatch to Python disabled": (
        ONLINE
        + "    with torch._C._DisableTorchDispatch():\n"
        + "        return m, torch.exp(x - m[..., None]).sum(-1)\n",
        "outside the process, its memory rises by",
    ),
}

TOO_COSTLY["in NumPy by DLPack, in memory taken on loading"] = (
    """
import numpy as np
import torch

POOL = np.ones(1 << 20)  # 8 MiB, resident before the first reading


def online_softmax(x, block_size):
    a = np.from_dlpack(x.detach().double())
    whole = POOL[: a.size].reshape(a.shape)
    m = a.max(-1)
    np.subtract(a, m[..., None], out=whole)
    np.exp(whole, out=whole)  # every exponential at once
    l = whole.sum(-1)
    return torch.from_numpy(np.asarray(m)).to(x.dtype), torch.from_numpy(np.asarray(l)).to(x.dtype)
""",
    "computes a tensor of (8, 4096), 32,768 elements",
)
