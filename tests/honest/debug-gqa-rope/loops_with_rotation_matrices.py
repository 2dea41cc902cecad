"""Every head by itself; a rotation matrix for every token."""
import math

import torch


def rotation_matrix(position, width, base):
    R = torch.zeros(width, width, dtype=torch.float64)
    half = width // 2
    for i in range(half):
        t = position * base ** (-2 * i / width)
        R[i, i] = R[i + half, i + half] = math.cos(t)
        R[i, i + half] = -math.sin(t)
        R[i + half, i] = math.sin(t)
    return R


def rope_gqa(q, k, v, positions, base=10000.0):
    B, T, H, D = q.shape
    R = torch.stack([rotation_matrix(int(p), D, base) for p in positions.tolist()])
    R = R.to(q.device)
    out = torch.empty_like(q)
    for b in range(B):
        for h in range(H):
            shared = h // (H // k.shape[2])
            Q = (R @ q[b, :, h].double()[..., None])[..., 0]
            K = (R @ k[b, :, shared].double()[..., None])[..., 0]
            V = v[b, :, shared].double()
            for t in range(T):
                w = torch.softmax(K[: t + 1] @ Q[t] / math.sqrt(D), 0)
                out[b, t, h] = (w @ V[: t + 1]).to(q.dtype)
    return out
