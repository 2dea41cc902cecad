"""Answers to `cached-generate`: what is fair, and what costs too much."""

from __future__ import annotations

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

RIGHT = {
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
}

TOO_COSTLY: dict[str, tuple[str, str]] = {
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
}
