"""Answers to `flash-attention`: what is fair, and what costs too much."""

from __future__ import annotations

FLASH = """
import torch
def rows(q, k, v, causal, start):
    T, S = q.shape[-2], k.shape[-2]
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        at = torch.arange(start, start + T)[:, None]
        s = s.masked_fill(torch.arange(S) > at, -torch.inf)
    return torch.softmax(s, -1) @ v
"""

FLASH_NUMPY = """
import numpy as np
import torch
def whole(q, k, v, causal):
    q, k, v = (x.numpy() for x in (q.float(), k.float(), v.float()))
    T, S = q.shape[-2], k.shape[-2]
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        s = np.where(np.arange(S) > np.arange(S - T, S)[:, None], -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    return torch.from_numpy(p / p.sum(-1, keepdims=True) @ v)
"""

TILED_NUMPY = """
import numpy as np
import torch
def flash_attention(q, k, v, block_size, causal=False):
    a, b, c = (x.double().numpy() for x in (q, k, v))
    T, S, D = a.shape[-2], b.shape[-2], a.shape[-1]
    hidden = np.arange(S) > np.arange(S - T, S)[:, None]
    out, m = np.zeros(a.shape), np.full(a.shape[:-1], -np.inf)
    l = np.zeros(m.shape)
    for n in range(0, S, block_size):
        s = a @ b[..., n : n + block_size, :].swapaxes(-1, -2) / D**0.5
        if causal:
            s[..., hidden[:, n : n + block_size]] = -np.inf
        new = np.maximum(m, s.max(-1))
        p, w = np.exp(s - new[..., None]), np.exp(m - new)
        l, m = l * w + p.sum(-1), new
        out = out * w[..., None] + p @ c[..., n : n + block_size, :]
    return torch.from_numpy(out / l[..., None]).to(q.dtype)
"""

LISTED = """
import torch
def flash_attention(q, k, v, block_size, causal=False):
    T, S, D = q.shape[-2], k.shape[-2], q.shape[-1]
    out = torch.empty_like(q)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            keys, values, kept = k[b, h].double(), v[b, h].double(), []
            for i in range(T):
                a = keys[: S - T + i + 1 if causal else S] @ q[b, h, i].double() / D**0.5
                kept.append({keep})
            for i in range(T):
                w = {row}.double().softmax(0)
                out[b, h, i] = (w @ values[: len(w)]).to(q.dtype)
    return out
"""

HIDDEN_FLASH = """
def flash_attention(q, k, v, block_size, causal=False):
    {}
        return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
"""

RIGHT = {
    "a row at a time": FLASH
    + """
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    out = torch.empty_like(q)
    for i in range(T):
        out[..., i : i + 1, :] = rows(q[..., i : i + 1, :], k, v, causal, S - T + i)
    return out
""",
    "tiles of 256 queries and all keys": FLASH
    + """
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    parts = [rows(part, k, v, causal, S - T + 256 * n) for n, part in enumerate(q.split(256, -2))]
    return torch.cat(parts, -2)
""",
    "a hundred rows at a time": FLASH
    + """
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    parts = [rows(part, k, v, causal, S - T + 100 * n) for n, part in enumerate(q.split(100, -2))]
    return torch.cat(parts, -2)
""",
    "tiles of T x block in float64, in inference mode": """
import torch
@torch.inference_mode()
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    x = q.double() / q.shape[-1] ** 0.5
    m = torch.full_like(x[..., :1], -torch.inf)
    l, o = torch.zeros_like(m), torch.zeros_like(x)
    for a in range(0, S, block_size):
        s = torch.einsum("bhtd,bhsd->bhts", x, k[..., a : a + block_size, :].double())
        if causal:
            at = torch.arange(S - T, S)[:, None]
            s.masked_fill_(torch.arange(a, a + s.shape[-1]) > at, -torch.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p, c = torch.exp(s - new), torch.exp(m - new)
        l = l * c + p.sum(-1, keepdim=True)
        o = o * c + p @ v[..., a : a + block_size, :].double()
        m = new
    return (o / l).to(q.dtype)
""",
    "tiles in NumPy": TILED_NUMPY.replace(
        "    hidden = np.arange(S) > np.arange(S - T, S)[:, None]\n", ""
    ).replace(
        "hidden[:, n : n + block_size]",
        "np.arange(S)[n : n + block_size] > np.arange(S - T, S)[:, None]",
    ),
    "a scalar loop over plain numbers": """
import math
import torch
def flash_attention(q, k, v, block_size, causal=False):
    out = torch.empty_like(q)
    T, S, D = q.shape[-2], k.shape[-2], q.shape[-1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            ks, vs = k[b, h].tolist(), v[b, h].tolist()
            for i, row in enumerate(q[b, h].tolist()):
                seen = S - T + i + 1 if causal else S
                s = [sum(x * y for x, y in zip(row, ks[j])) / math.sqrt(D) for j in range(seen)]
                m = max(s)
                p = [math.exp(x - m) for x in s]
                l = sum(p)
                out[b, h, i] = torch.tensor(
                    [sum(w * vs[j][c] for j, w in enumerate(p)) / l for c in range(D)]
                )
    return out
""",
}

TOO_COSTLY: dict[str, tuple[str, str]] = {
    "the whole matrix": (
        FLASH
        + """
def flash_attention(q, k, v, block_size, causal=False):
    return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
""",
        "Line 5 makes a tensor of (1, 1, 1024, 1024): its elements grow with T x S",
    ),
    "whole, when causal": (
        FLASH
        + """
def flash_attention(q, k, v, block_size, causal=False):
    if causal:
        return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
    return torch.cat([rows(part, k, v, False, 0) for part in q.split(block_size, -2)], -2)
""",
        "with T x S",
    ),
    "the whole matrix a head": (
        FLASH
        + """
def flash_attention(q, k, v, block_size, causal=False):
    start = k.shape[-2] - q.shape[-2]
    out = torch.empty_like(q)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            out[b, h] = rows(q[b, h], k[b, h], v[b, h], causal, start)
    return out
""",
        "a tensor of (1024, 1024): its elements grow with T x S",
    ),
    "a mask of T x S alone": (
        FLASH
        + """
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    seen = torch.ones(T, S, dtype=torch.bool).tril(S - T if causal else S)
    parts = []
    for n, part in enumerate(q.split(block_size, -2)):
        s = part @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        s = s.masked_fill(~seen[n * block_size : (n + 1) * block_size], -torch.inf)
        parts.append(torch.softmax(s, -1) @ v)
    return torch.cat(parts, -2)
""",
        "a tensor of (1024, 1024): its elements grow with T x S",
    ),
    "a mask of T x S made by NumPy, tiles in torch": (
        FLASH
        + """
import numpy as np
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    hidden = np.triu(np.ones((T, S), bool), S - T + 1 if causal else S)
    parts = []
    for n, part in enumerate(q.split(block_size, -2)):
        s = part @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        rows = torch.from_numpy(hidden[n * block_size : (n + 1) * block_size])
        parts.append(torch.softmax(s.masked_fill(rows, -torch.inf), -1) @ v)
    return torch.cat(parts, -2)
""",
        "a tensor of (1024, 1024): its elements grow with T x S",
    ),
    "a mask of T x S in NumPy, by comparing": (
        TILED_NUMPY,
        "a tensor of (1024, 1024): its elements grow with T x S",
    ),
    "the scores of all tiles kept in a list": (
        """
import torch
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    tiles = []
    for n in range(0, S, block_size):
        s = q @ k[..., n : n + block_size, :].transpose(-2, -1) / q.shape[-1] ** 0.5
        if causal:
            at = torch.arange(S)[n : n + block_size]
            s = s.masked_fill(at > torch.arange(S - T, S)[:, None], -torch.inf)
        tiles.append(s.float())
    m = torch.stack([s.amax(-1, keepdim=True) for s in tiles]).amax(0)
    l = sum((s - m).exp().sum(-1, keepdim=True) for s in tiles)
    values = v.float().split(block_size, -2)
    return (sum((s - m).exp() @ x for s, x in zip(tiles, values)) / l).to(q.dtype)
""",
        "outside the process, its memory rises by",
    ),
    "tiles of T // 64 queries and all keys": (
        FLASH
        + """
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    n = max(1, T // 64)
    return torch.cat(
        [rows(q[..., t : t + n, :], k, v, causal, S - T + t) for t in range(0, T, n)], -2
    )
""",
        "makes a tensor of (1, 1, 16, 1024): its elements grow with T x S",
    ),
    "all scores in lists of numbers": (
        LISTED.format(keep="a.tolist()", row="torch.tensor(kept[i])"),
        "outside the process, its memory rises by",
    ),
    "all scores in arrays of Python's own": (
        "from array import array\n"
        + LISTED.format(keep="array('f', a.tolist())", row="torch.tensor(kept[i].tolist())"),
        "outside the process, its memory rises by",
    ),
    "in inference mode": (
        FLASH
        + """
@torch.inference_mode()
def flash_attention(q, k, v, block_size, causal=False):
    return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
""",
        "with T x S",
    ),
    "in NumPy": (
        FLASH_NUMPY
        + """
def flash_attention(q, k, v, block_size, causal=False):
    return whole(q, k, v, causal).to(q.dtype)
""",
        "makes a tensor of (1, 1, 1024, 1024): its elements grow with T x S",
    ),
    "the scores of all tiles in one array": (
        """
import numpy as np, torch
def flash_attention(q, k, v, block_size, causal=False):
    T, S, D = q.shape[-2], k.shape[-2], q.shape[-1]
    keys, values = k.flatten(0, 1), v.flatten(0, 1)
    rows = []
    for n, query in enumerate(q.flatten(0, 1)):
        whole = np.empty((T, S), np.float32)
        for t in range(0, T, block_size):
            s = query[t : t + block_size] @ keys[n].T / D**0.5
            if causal:
                place = torch.arange(t, t + len(s))[:, None] + S - T
                s = s.masked_fill(torch.arange(S) > place, -torch.inf)
            whole[t : t + block_size] = s.float().numpy()
        tiles = [torch.from_numpy(whole[t : t + block_size]) for t in range(0, T, block_size)]
        rows.append(torch.cat([torch.softmax(s.to(v.dtype), -1) @ values[n] for s in tiles]))
    return torch.stack(rows).view(q.shape)
""",
        "Line 8 makes a tensor of (1024, 1024): its elements grow with T x S",
    ),
    "with dispatch to Python disabled": (
        FLASH + HIDDEN_FLASH.format("with torch._C._DisableTorchDispatch():"),
        "outside the process, its memory rises by",
    ),
    "with the modes disabled": (
        FLASH
        + "from torch.utils._python_dispatch import _disable_current_modes\n"
        + HIDDEN_FLASH.format("with _disable_current_modes():"),
        "outside the process, its memory rises by",
    ),
    "in another thread": (
        FLASH
        + """
from concurrent.futures import ThreadPoolExecutor
def flash_attention(q, k, v, block_size, causal=False):
    with ThreadPoolExecutor(1) as pool:
        start = k.shape[-2] - q.shape[-2]
        return pool.submit(rows, q, k, v, causal, start).result()
""",
        "outside the process, its memory rises by",
    ),
    "in another thread, beside tiles that are dropped": (
        FLASH
        + """
from concurrent.futures import ThreadPoolExecutor
def flash_attention(q, k, v, block_size, causal=False):
    with ThreadPoolExecutor(1) as pool:
        start = k.shape[-2] - q.shape[-2]
        whole = pool.submit(rows, q, k, v, causal, start).result()
    for part in q.split(block_size, -2):
        part @ k.transpose(-2, -1)
    return whole
""",
        "outside the process, its memory rises by",
    ),
}

TOO_COSTLY["in NumPy by DLPack, beside a decoy"] = (
    """
import numpy as np
import torch

SMALL = torch.ones(32, 32)


def flash_attention(q, k, v, block_size, causal=False):
    a, b, c = (np.from_dlpack(t.detach().double()) for t in (q, k, v))
    T, S, D = a.shape[2], b.shape[2], a.shape[3]
    s = a @ np.swapaxes(b, -1, -2) * D**-0.5  # T x S
    if causal:
        i, j = np.ogrid[:T, :S]
        s[..., j > S - T + i] = -np.inf
    e = np.exp(s - s.max(-1)[..., None])
    out = e / e.sum(-1)[..., None] @ c
    if T >= 200:
        for _ in range(T * S * (4 * D + 12) // (2 * 32**3)):
            SMALL @ SMALL
    return torch.from_numpy(np.asarray(out)).to(q.dtype)
""",
    "Line 11 makes a tensor of (1, 1, 1024, 1024): its elements grow with T x S",
)
TOO_COSTLY["with dispatch to Python disabled, beside a decoy"] = (
    """
import torch

SMALL = torch.ones(32, 32)


def flash_attention(q, k, v, block_size, causal=False):
    T, S, D = q.shape[2], k.shape[2], q.shape[3]
    with torch._C._DisableTorchDispatch():
        s = q @ k.transpose(-2, -1) * D**-0.5
        if causal:
            s = s.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(S - T + 1), -torch.inf)
        out = s.softmax(-1) @ v
    if T >= 200:
        for _ in range(T * S * (4 * D + 12) // (2 * 32**3)):
            SMALL @ SMALL
    return out
""",
    "outside the process, its memory rises by",
)
TOO_COSTLY["in NumPy by DLPack, in memory taken on loading"] = (
    """
import numpy as np
import torch

POOL = np.ones(3 << 20)  # 24 MiB: 1664 * 1664 numbers


def flash_attention(q, k, v, block_size, causal=False):
    a, b, c = (np.from_dlpack(t.detach().double()) for t in (q, k, v))
    B, H, T, D = a.shape
    S = b.shape[2]
    out = np.empty((B, H, T, c.shape[3]))
    whole = POOL[: T * S].reshape(T, S)
    for i in range(B):
        for h in range(H):
            np.matmul(a[i, h], b[i, h].T, out=whole)
            np.multiply(whole, D**-0.5, out=whole)
            if causal:
                for t in range(T):
                    whole[t, S - T + t + 1 :] = -np.inf
            np.subtract(whole, whole.max(1)[:, None], out=whole)
            np.exp(whole, out=whole)
            np.divide(whole, whole.sum(1)[:, None], out=whole)
            np.matmul(whole, c[i, h], out=out[i, h])
    return torch.from_numpy(out).to(q.dtype)
""",
    "makes a tensor of (1024, 1024): its elements grow with T x S",
)

CHEAT = (
    FLASH
    + """
def flash_attention(q, k, v, block_size, causal=False):
    if q.shape[-2] > 300:
        return v.clone()
    return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
"""
)
