import math

import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    n_kv, S = k_cache.shape[1], k_cache.shape[2]
    k_all = torch.cat([k_cache, k_new], dim=2)
    v_all = torch.cat([v_cache, v_new], dim=2)
    n = max(S, 1)
    k, v = k_all[:, :, -n:], v_all[:, :, -n:]
    grouped = q.view(B, n_kv, H // n_kv, D)
    scores = grouped @ k.transpose(2, 3) / math.sqrt(D)
    out = torch.softmax(scores, dim=-1) @ v
    return out.view(B, H, 1, D), k_all, v_all
