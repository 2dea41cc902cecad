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


def block(x, cache, weights, H, Hkv):
    w_q, w_k, w_v, w_o = weights
    n, D = x.shape[0], w_q.shape[0] // H
    q = (x @ w_q.T).reshape(n, H, D).swapaxes(0, 1)
    k = (x @ w_k.T).reshape(n, Hkv, D).swapaxes(0, 1)
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
    cache = Cache()

    x = E[prompt]
    x = x + block(x, cache, weights, n_heads, n_kv_heads)
    tokens = [(E @ x[-1]).argmax()]
    for _ in range(1, n_new):
        x = E[tokens[-1]][None]
        x = x + block(x, cache, weights, n_heads, n_kv_heads)
        tokens.append((E @ x[-1]).argmax())
    return torch.stack(tokens)
