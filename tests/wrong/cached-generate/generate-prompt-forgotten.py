import torch


class Cache:
    def __init__(self):
        self.k = None
        self.v = None

    def __len__(self):
        return 0 if self.k is None else self.k.shape[1]

    def update(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=1)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=1)
        return self.k, self.v


def rope_tables(n, D, device):
    inv = torch.pow(10000.0, -torch.arange(0, D, 2, device=device, dtype=torch.float64) / D)
    ang = torch.arange(n, device=device)[:, None] * inv
    return torch.cos(ang).float(), torch.sin(ang).float()


def rope(x, table, pos):
    cos, sin = table[0][pos], table[1][pos]
    h = x.shape[-1] // 2
    out = torch.empty_like(x)
    out[..., :h] = x[..., :h] * cos - x[..., h:] * sin
    out[..., h:] = x[..., :h] * sin + x[..., h:] * cos
    return out


def block(x, pos, cache, table, weights, H, Hkv):
    w_q, w_k, w_v, w_o = weights
    n, D = x.shape[0], w_q.shape[0] // H
    q = rope((x @ w_q.T).reshape(n, H, D).swapaxes(0, 1), table, pos)
    k = rope((x @ w_k.T).reshape(n, Hkv, D).swapaxes(0, 1), table, pos)
    v = (x @ w_v.T).reshape(n, Hkv, D).swapaxes(0, 1)
    k, v = cache.update(k, v)
    idx = torch.arange(H, device=x.device) // (H // Hkv)
    scores = q @ k[idx].swapaxes(1, 2) / D**0.5
    if n > 1:
        scores = scores + torch.triu(torch.full((n, n), -torch.inf, device=x.device), 1)
    e = torch.exp(scores - scores.max(-1, keepdim=True).values)
    o = (e / e.sum(-1, keepdim=True)) @ v[idx]
    return o.swapaxes(0, 1).reshape(n, H * D) @ w_o.T


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    E = embed.float()
    weights = tuple(w.float() for w in (w_q, w_k, w_v, w_o))
    D = w_q.shape[0] // n_heads
    T = len(prompt)
    table = rope_tables(T + n_new, D, E.device)

    x = E[prompt]
    pos = torch.arange(T, device=E.device)
    x = x + block(x, pos, Cache(), table, weights, n_heads, n_kv_heads)
    tokens = [(E @ x[-1]).argmax()]
    cache = Cache()
    for i in range(1, n_new):
        x = E[tokens[-1]][None]
        pos = torch.tensor([T + i - 1], device=E.device)
        x = x + block(x, pos, cache, table, weights, n_heads, n_kv_heads)
        tokens.append((E @ x[-1]).argmax())
    return torch.stack(tokens)
