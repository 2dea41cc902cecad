import torch


class Cache:
    def __init__(self):
        self.keys, self.values = [], []

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        return torch.stack(self.keys, 2), torch.stack(self.values, 2)


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    cache, steps = Cache(), []
    for t in range(T):
        token = x[:, t]
        q = (token @ w_q.T).reshape(B, n_heads, 1, D)
        keys, values = cache.append(
            (token @ w_k.T).reshape(B, n_heads, D), (token @ w_v.T).reshape(B, n_heads, D)
        )
        p = ((q * keys).sum(-1) / D**0.5).softmax(-1)
        steps.append((p.unsqueeze(-1) * values).sum(2).reshape(B, d) @ w_o.T)
    return torch.stack(steps, 1)
