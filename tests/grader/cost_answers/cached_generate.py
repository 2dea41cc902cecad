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

EVERY = """
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    k = v = None
    for n in range(n_new):
        x = embed[prompt] if n % EVERY == 0 else embed[prompt[-1:]]
        at = torch.arange(len(prompt))[-len(x) :]
        new_k, new_v = turned(heads(x, w_k, n_kv_heads), at), heads(x, w_v, n_kv_heads)
        k = new_k if n % EVERY == 0 else torch.cat([k, new_k], 1)
        v = new_v if n % EVERY == 0 else torch.cat([v, new_v], 1)
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
    "keys kept unrotated, all of them turned at each step": GENERATE
    + """
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    kept = embed.new_empty(2, n_kv_heads, 0, len(w_q) // n_heads).double()
    fed, new = prompt, []
    for _ in range(n_new):
        x = embed[fed]
        fresh = torch.stack([heads(x, w, n_kv_heads) for w in (w_k, w_v)])
        kept = torch.cat([kept, fresh], 2)
        at = torch.arange(kept.shape[2])
        k, v = turned(kept[0], at), kept[1]
        a = step(turned(heads(x, w_q, n_heads).double(), at[-len(x) :]), k, v).to(x.dtype)
        fed = ((x + a @ w_o.T)[-1] @ embed.T).argmax(-1, keepdim=True)
        new.append(fed)
    return torch.cat(new)
""",
    "lists of NumPy's arrays": """
import numpy as np
import torch
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    E, Q, K, V, O = (x.double().numpy() for x in (embed, w_q, w_k, w_v, w_o))
    D = len(Q) // n_heads
    pace = 10000.0 ** (-2 * np.arange(D // 2) / D)
    def turned(x, at):
        a, b, angle = x[:, : D // 2], x[:, D // 2 :], at * pace
        c, s = np.cos(angle), np.sin(angle)
        return np.concatenate([a * c - b * s, a * s + b * c], 1)
    keys, values, tokens = [], [], prompt.tolist()
    for at in range(len(tokens) + n_new - 1):
        x = E[tokens[at]]
        keys.append(turned((K @ x).reshape(n_kv_heads, D), at))
        values.append((V @ x).reshape(n_kv_heads, D))
        if at < len(prompt) - 1:
            continue
        q, k, v = turned((Q @ x).reshape(n_heads, D), at), np.stack(keys), np.stack(values)
        out = []
        for h in range(n_heads):
            g = h * n_kv_heads // n_heads
            s = k[:, g] @ q[h] / D**0.5
            p = np.exp(s - s.max())
            out.append(p @ v[:, g] / p.sum())
        tokens.append(int(np.argmax(E @ (x + O @ np.concatenate(out)))))
    return torch.tensor(tokens[len(prompt) :])
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
    "keys and values of the past again at every eighth step": (
        GENERATE + EVERY.replace("EVERY", "8"),
        "when N grows 4 times",
    ),
    "keys and values of the past again at every sixteenth step": (
        GENERATE + EVERY.replace("EVERY", "16"),
        "when N grows 4 times",
    ),
    "with dispatch to Python disabled": (
        GENERATE
        + AGAIN.replace("def generate", "def again")
        + "def generate(*a):\n    with torch._C._DisableTorchDispatch():\n"
        + "        return again(*a)\n",
        "when N grows 4 times",
    ),
}
