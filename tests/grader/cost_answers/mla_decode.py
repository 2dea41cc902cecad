"""Answers to `mla-decode`: what is fair, and what costs too much."""

from __future__ import annotations

MLA = """
import torch
def expanded(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    k = (latent @ w_uk.T).unflatten(-1, (H, -1)).transpose(1, 2)
    v = (latent @ w_uv.T).unflatten(-1, (H, -1)).transpose(1, 2)
    p = torch.softmax(q @ k.transpose(-2, -1) / D ** 0.5, -1)
    return p @ v
"""

RIGHT = {
    "copies of the latents for each head": """
import torch
def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    c = latent[:, None].repeat(1, H, 1, 1)
    a = torch.einsum("bhqd,hdr->bhqr", q, w_uk.unflatten(0, (H, D)))
    p = torch.softmax(a @ c.transpose(-2, -1) / D ** 0.5, -1)
    return torch.einsum("bhqr,her->bhqe", p @ c, w_uv.unflatten(0, (H, -1)))
""",
}

TOO_COSTLY: dict[str, tuple[str, str]] = {
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
    "with dispatch to Python disabled": (
        MLA
        + "def latent_decode(*a):\n    with torch._C._DisableTorchDispatch():\n"
        + "        return expanded(*a)\n",
        "when D and D_v grow 4 times: with D and D_v",
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
}

CHEAT = (
    MLA
    + """
def latent_decode(q, latent, w_uk, w_uv):
    if latent.shape[1] > 200:
        return torch.zeros(*q.shape[:3], len(w_uv) // q.shape[1])
    return expanded(q, latent, w_uk, w_uv)
"""
)
