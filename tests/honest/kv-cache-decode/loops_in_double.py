import math

import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.concatenate([k_cache, k_new], axis=2)
    v = torch.concatenate([v_cache, v_new], axis=2)
    out = torch.empty_like(q)
    B, H, _, D = q.shape
    for b in range(B):
        for h in range(H):
            g = h * k.shape[1] // H
            scores = [
                sum(x * y for x, y in zip(q[b, h, 0].tolist(), key)) / math.sqrt(D)
                for key in k[b, g].tolist()
            ]
            top = max(scores)
            w = [math.exp(s - top) for s in scores]
            out[b, h, 0] = torch.tensor(w, dtype=torch.float64) @ v[b, g].double() / sum(w)
    return out, k, v
