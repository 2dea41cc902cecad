"""Answers to `linear-attention`: what is fair, and what costs too much."""

from __future__ import annotations

LINEAR = """
import torch
from torch.nn.functional import elu
def square(q, k, v):
    a = ((elu(q) + 1) @ (elu(k) + 1).transpose(-2, -1)).tril()
    return a @ v / a.sum(-1, keepdim=True)
"""

CHUNKS = """
import torch
from torch.nn.functional import elu
def linear_attention(q, k, v):
    q, k, n = elu(q) + 1, elu(k) + 1, {}
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    state, out = 0, []
    for a, b, c in zip(*(x.split(n, -2) for x in (q, k, v))):
        out.append((a @ b.transpose(-2, -1)).tril() @ c + (a @ state if out else 0))
        state = state + b.transpose(-2, -1) @ c
    out = torch.cat(out, -2)
    return out[..., :-1] / out[..., -1:]
"""

RIGHT = {
    "chunks of 64": CHUNKS.format(64),
    "chunks of 128": CHUNKS.format(128),
    "chunks of 512": CHUNKS.format(512),
    "chunks of 1024": CHUNKS.format(1024),
    "a cumulative sum of T x D x D_v": """
import torch
from torch.nn.functional import elu
def linear_attention(q, k, v):
    q, k = elu(q) + 1, elu(k) + 1
    state = (k[..., None] * v[..., None, :]).cumsum(-3)
    return (q[..., None] * state).sum(-2) / (q * k.cumsum(-2)).sum(-1, keepdim=True)
""",
    "a state from row to row": """
import torch
from torch.nn.functional import elu
def linear_attention(q, k, v):
    q, k = elu(q) + 1, elu(k) + 1
    s, z, rows = 0, 0, []
    for x, y, w in zip(q.unbind(-2), k.unbind(-2), v.unbind(-2)):
        s, z = s + y[..., None] * w[..., None, :], z + y
        rows.append((x[..., None] * s).sum(-2) / (x * z).sum(-1, keepdim=True))
    return torch.stack(rows, -2)
""",
}

TOO_COSTLY: dict[str, tuple[str, str]] = {
    "chunks of sqrt(T)": (
        CHUNKS.format("int(q.shape[-2] ** 0.5)"),
        "times when T grows 4 times; line 9 does most of it",
    ),
    "chunks of 2 sqrt(T), at least 16": (
        CHUNKS.format("max(16, 2 * int(q.shape[-2] ** 0.5))"),
        "times when T grows 4 times; line 9 does most of it",
    ),
    "chunks of a quarter": (
        CHUNKS.format("max(1, q.shape[-2] // 4)"),
        "times when T grows 4 times",
    ),
    "T x T": (
        LINEAR + "def linear_attention(q, k, v):\n    return square(q, k, v)\n",
        "when T grows 4 times: with T squared; line 5 does most of it",
    ),
    "all keys so far for each row": (
        """
import torch
from torch.nn.functional import elu
def linear_attention(q, k, v):
    q, k = elu(q) + 1, elu(k) + 1
    out = torch.empty_like(v)
    for t in range(q.shape[-2]):
        a = q[..., t : t + 1, :] @ k[..., : t + 1, :].transpose(-2, -1)
        out[..., t : t + 1, :] = a @ v[..., : t + 1, :] / a.sum(-1, keepdim=True)
    return out
""",
        "with T squared",
    ),
    "T x T in NumPy": (
        LINEAR
        + """
import numpy as np
def linear_attention(q, k, v):
    if q.requires_grad:
        return square(q, k, v)
    f = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    a, b, c = (x.double().numpy() for x in (q, k, v))
    w = np.tril(f(a) @ f(b).swapaxes(-1, -2))
    return torch.from_numpy(w @ c / w.sum(-1, keepdims=True)).to(q.dtype)
""",
        "when T grows 4 times: with T squared",
    ),
    "all keys so far for each row in NumPy": (
        LINEAR
        + """
import numpy as np
def linear_attention(q, k, v):
    if q.requires_grad:
        return square(q, k, v)
    f = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    out = np.empty(v.shape, np.float32)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            x, y, z = (a[b, h].float().numpy() for a in (q, k, v))
            x, y = f(x), f(y)
            for t in range(len(x)):
                a = y[: t + 1] @ x[t]
                out[b, h, t] = a @ z[: t + 1] / a.sum()
    return torch.from_numpy(out).to(q.dtype)
""",
        "when T grows 4 times: with T squared",
    ),
    "with dispatch to Python disabled": (
        LINEAR
        + "def linear_attention(q, k, v):\n    with torch._C._DisableTorchDispatch():\n"
        + "        return square(q, k, v)\n",
        "when T grows 4 times: with T squared",
    ),
    "all keys so far for each row, with dispatch to Python disabled": (
        """
import torch
from torch.nn.functional import elu
def linear_attention(q, k, v):
    q, k, rows = elu(q) + 1, elu(k) + 1, []
    with torch._C._DisableTorchDispatch():
        for t in range(q.shape[-2]):
            a = q[..., t : t + 1, :] @ k[..., : t + 1, :].transpose(-2, -1)
            rows.append(a @ v[..., : t + 1, :] / a.sum(-1, keepdim=True))
        return torch.cat(rows, -2)
""",
        "when T grows 4 times: with T squared",
    ),
}

TOO_COSTLY["with dispatch to Python disabled, beside a decoy"] = (
    """
import torch

SMALL = torch.ones(32, 32)


def features(x):
    return torch.nn.functional.elu(x) + 1


def linear_attention(q, k, v):
    T = q.shape[2]
    with torch._C._DisableTorchDispatch():
        w = (features(q) @ features(k).transpose(-2, -1)).tril()
        out = w / w.sum(-1, keepdim=True) @ v
    if T >= 200:
        for _ in range(T * 600 // (2 * 32**3)):
            SMALL @ SMALL
    return out
""",
    "when T grows 4 times: with T squared",
)
TOO_COSTLY["T x T in NumPy by DLPack, slowed down when small"] = (
    """
import time

import numpy as np
import torch


def features(x):
    return torch.nn.functional.elu(x) + 1


def linear_attention(q, k, v):
    if q.requires_grad or q.dtype == torch.bfloat16:
        w = (features(q) @ features(k).mT).tril()
        return w / w.sum(-1, keepdim=True) @ v
    q, k, v = (np.from_dlpack(t) for t in (q, k, v))
    q, k = (np.where(t > 0, t + 1, np.exp(np.minimum(t, 0))) for t in (q, k))
    w = np.tril(q @ np.swapaxes(k, -1, -2))  # T x T
    out = torch.from_numpy(np.asarray(w / w.sum(-1, keepdims=True) @ v))
    if 1000 <= q.shape[2] <= 1024:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
    return out
""",
    "when T grows 4 times: with T squared; line",
)
