"""Answers with right values: at a fair cost, and at too high a one, openly and hidden."""

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

ONLINE = """
import torch
def online_softmax(x, block_size):
    m = x.amax(-1)
"""

LINEAR = """
import torch
from torch.nn.functional import elu
def square(q, k, v):
    a = ((elu(q) + 1) @ (elu(k) + 1).transpose(-2, -1)).tril()
    return a @ v / a.sum(-1, keepdim=True)
"""

MLA = """
import torch
def expanded(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    k = (latent @ w_uk.T).unflatten(-1, (H, -1)).transpose(1, 2)
    v = (latent @ w_uv.T).unflatten(-1, (H, -1)).transpose(1, 2)
    p = torch.softmax(q @ k.transpose(-2, -1) / D ** 0.5, -1)
    return p @ v
"""

GENERATE = """
import torch
def turned(x, at):
    half = x.shape[-1] // 2
    angle = at[:, None] * 10000.0 ** (-torch.arange(half) / half)
    a, b, c, s = x[..., :half], x[..., half:], angle.cos(), angle.sin()
    return torch.cat([a * c - b * s, a * s + b * c], -1).to(x.dtype)
def heads(x, w, n):
    return (x @ w.T).unflatten(-1, (n, -1)).transpose(0, 1)
def step(q, k, v):
    k, v = (x.repeat_interleave(len(q) // len(k), 0) for x in (k, v))
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    seen = torch.ones(s.shape[-2:], dtype=torch.bool).tril(s.shape[-1] - s.shape[-2])
    s = s.masked_fill(~seen, -torch.inf)
    return (s.softmax(-1) @ v).transpose(0, 1).flatten(1)
"""

RIGHT: dict[str, dict[str, str]] = {
    "flash-attention": {
        "a row at a time": FLASH
        + """
def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    out = torch.empty_like(q)
    for i in range(T):
        out[..., i : i + 1, :] = rows(q[..., i : i + 1, :], k, v, causal, S - T + i)
    return out
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
    },
    "online-softmax": {
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
    },
    "linear-attention": {
        "chunks of 1024": """
import torch
from torch.nn.functional import elu
def linear_attention(q, k, v):
    q, k = elu(q) + 1, elu(k) + 1
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    state, out = 0, []
    for a, b, c in zip(*(x.split(1024, -2) for x in (q, k, v))):
        out.append((a @ b.transpose(-2, -1)).tril() @ c + (a @ state if out else 0))
        state = state + b.transpose(-2, -1) @ c
    out = torch.cat(out, -2)
    return out[..., :-1] / out[..., -1:]
""",
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
    },
    "mla-decode": {
        "copies of the latents for each head": """
import torch
def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    c = latent[:, None].repeat(1, H, 1, 1)
    a = torch.einsum("bhqd,hdr->bhqr", q, w_uk.unflatten(0, (H, D)))
    p = torch.softmax(a @ c.transpose(-2, -1) / D ** 0.5, -1)
    return torch.einsum("bhqr,her->bhqe", p @ c, w_uv.unflatten(0, (H, -1)))
""",
    },
    "cached-generate": {
        "caches of the full length": GENERATE
        + """
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    T, D = len(prompt), len(w_q) // n_heads
    k = embed.new_zeros(n_kv_heads, T + n_new, D)
    v = torch.zeros_like(k)
    fed, new = prompt, []
    at = torch.arange(T)
    for n in range(n_new):
        x = embed[fed]
        k[:, at] = turned(heads(x, w_k, n_kv_heads), at)
        v[:, at] = heads(x, w_v, n_kv_heads)
        end = T + n
        a = step(turned(heads(x, w_q, n_heads), at), k[:, :end], v[:, :end])
        fed = ((x + a @ w_o.T)[-1] @ embed.T).argmax(-1, keepdim=True)
        new.append(fed)
        at = torch.tensor([end])
    return torch.cat(new)
""",
        "keys kept unrotated, joined by cat": GENERATE
        + """
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    k = v = embed.new_empty(n_kv_heads, 0, len(w_q) // n_heads)
    fed, new = prompt, []
    while True:
        x = embed[fed]
        k = torch.cat([k, heads(x, w_k, n_kv_heads)], 1)
        v = torch.cat([v, heads(x, w_v, n_kv_heads)], 1)
        at = torch.arange(k.shape[1])
        a = step(turned(heads(x, w_q, n_heads), at[-len(x) :]), turned(k, at), v)
        fed = ((x + a @ w_o.T)[-1] @ embed.T).argmax(-1, keepdim=True)
        new.append(fed)
        if len(new) == n_new:
            return torch.cat(new)
""",
    },
}

AGAIN = """
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    for _ in range(n_new):
        x, at = embed[prompt], torch.arange(len(prompt))
        k, v = turned(heads(x, w_k, n_kv_heads), at), heads(x, w_v, n_kv_heads)
        a = step(turned(heads(x[-1:], w_q, n_heads), at[-1:]), k, v)
        new = ((x[-1:] + a @ w_o.T)[-1] @ embed.T).argmax(-1, keepdim=True)
        prompt = torch.cat([prompt, new])
    return prompt[-n_new:]
"""

HIDDEN_FLASH = """
def flash_attention(q, k, v, block_size, causal=False):
    {}
        return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
"""

TOO_COSTLY: dict[str, dict[str, tuple[str, str]]] = {
    "flash-attention": {
        "the whole matrix": (
            FLASH
            + """
def flash_attention(q, k, v, block_size, causal=False):
    return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
""",
            "Line 5 makes a tensor of (1, 2, 512, 512): its elements grow with T x S",
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
            "a tensor of (512, 512): its elements grow with T x S",
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
            "a tensor of (512, 512): its elements grow with T x S",
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
            "makes a tensor of (1, 2, 512, 512): its elements grow with T x S",
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
    },
    "online-softmax": {
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
        "with dispatch to Python disabled": (
            ONLINE
            + "    with torch._C._DisableTorchDispatch():\n"
            + "        return m, torch.exp(x - m[..., None]).sum(-1)\n",
            "outside the process, its memory rises by",
        ),
    },
    "linear-attention": {
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
            "outside the process, its processor time grows",
        ),
    },
    "mla-decode": {
        "keys and values expanded": (
            MLA + "latent_decode = lambda *a: expanded(*a)\n",
            "when D and D_v grow 4 times: with D and D_v",
        ),
        "one head at a time": (
            MLA
            + """
def latent_decode(q, latent, w_uk, w_uv):
    H = q.shape[1]
    parts = zip(q.split(1, 1), w_uk.chunk(H), w_uv.chunk(H))
    return torch.cat([expanded(a, latent, b, c) for a, b, c in parts], 1)
""",
            "when D and D_v grow 4 times",
        ),
        "only the values expanded": (
            """
import torch
def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    a = torch.einsum("bhqd,hdr->bhqr", q, w_uk.unflatten(0, (H, D)))
    p = torch.softmax(a @ latent[:, None].transpose(-2, -1) / D ** 0.5, -1)
    return p @ (latent @ w_uv.T).unflatten(-1, (H, -1)).transpose(1, 2)
""",
            "when D and D_v grow 4 times",
        ),
        "kept from one call to the next": (
            MLA
            + """
kept = {}
def latent_decode(q, latent, w_uk, w_uv):
    key = tuple(hash(x.float().numpy().tobytes()) for x in (q, latent, w_uk, w_uv)), q.dtype
    if key not in kept:
        kept[key] = expanded(q, latent, w_uk, w_uv)
    return kept[key].clone()
""",
            "when D and D_v grow 4 times",
        ),
        "in NumPy": (
            """
import numpy as np
import torch
def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    a, c, w, u = (x.float().numpy() for x in (q, latent, w_uk, w_uv))
    k = (c @ w.T).reshape(B, -1, H, D).transpose(0, 2, 1, 3)
    v = (c @ u.T).reshape(B, c.shape[1], H, -1).transpose(0, 2, 1, 3)
    s = a @ k.swapaxes(-1, -2) / D ** 0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    return torch.from_numpy(p / p.sum(-1, keepdims=True) @ v).to(q.dtype)
""",
            "when D and D_v grow 4 times",
        ),
    },
    "cached-generate": {
        "the whole pass for each token": (
            GENERATE
            + """
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    for _ in range(n_new):
        x, at = embed[prompt], torch.arange(len(prompt))
        q, k = turned(heads(x, w_q, n_heads), at), turned(heads(x, w_k, n_kv_heads), at)
        a = step(q, k, heads(x, w_v, n_kv_heads))
        new = ((x + a @ w_o.T)[-1] @ embed.T).argmax(-1, keepdim=True)
        prompt = torch.cat([prompt, new])
    return prompt[-n_new:]
""",
            "when N grows 4 times",
        ),
        "keys and values of the past again": (
            GENERATE + AGAIN,
            "when N grows 4 times",
        ),
        "with dispatch to Python disabled": (
            GENERATE
            + AGAIN.replace("def generate", "def again")
            + "def generate(*a):\n    with torch._C._DisableTorchDispatch():\n"
            + "        return again(*a)\n",
            "outside the process, its processor time grows",
        ),
    },
}
"""Style -> its text, and what the report must say."""

CHEATS = {
    "flash-attention": FLASH
    + """
def flash_attention(q, k, v, block_size, causal=False):
    if q.shape[-2] > 150:
        return v.clone()
    return rows(q, k, v, causal, k.shape[-2] - q.shape[-2])
""",
    "mla-decode": MLA
    + """
def latent_decode(q, latent, w_uk, w_uv):
    if latent.shape[1] > 200:
        return torch.zeros(*q.shape[:3], len(w_uv) // q.shape[1])
    return expanded(q, latent, w_uk, w_uv)
""",
}
"""Right at the sizes of the cases alone."""
