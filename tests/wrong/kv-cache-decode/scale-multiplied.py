import math

import torch


class Cache:
    def __init__(self, k, v):
        self.k, self.v = k, v

    def append(self, k, v):
        self.k = torch.cat([self.k, k], dim=2)
        self.v = torch.cat([self.v, v], dim=2)


def decode_step(q, k_new, v_new, k_cache, v_cache):
    cache = Cache(k_cache, v_cache)
    cache.append(k_new, v_new)
    n = q.shape[1] // cache.k.shape[1]
    k, v = cache.k.repeat_interleave(n, 1), cache.v.repeat_interleave(n, 1)
    weights = torch.softmax((q @ k.mT) * math.sqrt(q.shape[-1]), dim=-1)
    return weights @ v, cache.k, cache.v
