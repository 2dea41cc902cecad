
import torch

SPLIT = 32


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    N = k_cache.shape[1]
    f = torch.promote_types(q.dtype, torch.float32)
    out = torch.zeros_like(q)
    for b in range(B):
        n_splits = int(lengths[b]) // SPLIT
        if n_splits == 0:
            continue
        x = q[b].reshape(N, H // N, D).to(f) / D**0.5
        parts, lses = [], []
        for i in range(n_splits):
            s = x @ k_cache[b, :, i * SPLIT : (i + 1) * SPLIT].to(f).mT
            lses.append(torch.logsumexp(s, -1, keepdim=True))
            parts.append(torch.softmax(s, -1) @ v_cache[b, :, i * SPLIT : (i + 1) * SPLIT].to(f))
        w = torch.softmax(torch.stack(lses), 0)
        out[b] = (w * torch.stack(parts)).sum(0).reshape(H, 1, D)
    return out
