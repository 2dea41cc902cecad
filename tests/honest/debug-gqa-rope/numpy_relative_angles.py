"""The scores from the differences of the positions, in NumPy, key/value head after key/value head."""
import numpy as np
import torch


def rope_gqa(q, k, v, positions, base=10000.0):
    Q, K, V = (t.detach().cpu().double().numpy() for t in (q, k, v))
    pos = positions.cpu().numpy().astype(np.float64)
    B, T, H, D = Q.shape
    half, rep = D // 2, H // K.shape[2]
    theta = base ** (-2.0 * np.arange(half) / D)
    delta = (pos[:, None] - pos[None, :])[..., None] * theta  # angle of the query less the key's
    c, s = np.cos(delta), np.sin(delta)
    out = np.zeros_like(Q)
    for h in range(H):
        qa, qb = Q[:, :, h, :half], Q[:, :, h, half:]
        ka, kb = K[:, :, h // rep, :half], K[:, :, h // rep, half:]
        same = np.einsum("bti,bsi,tsi->bts", qa, ka, c) + np.einsum("bti,bsi,tsi->bts", qb, kb, c)
        cross = np.einsum("bti,bsi,tsi->bts", qa, kb, s) - np.einsum("bti,bsi,tsi->bts", qb, ka, s)
        z = (same + cross) / np.sqrt(D)
        z = np.where(np.tri(T, dtype=bool), z, -np.inf)
        z = np.exp(z - z.max(-1, keepdims=True))
        out[:, :, h] = z / z.sum(-1, keepdims=True) @ V[:, :, h // rep]
    return torch.from_numpy(out).to(q)
