import numpy as np
import torch


def flash_attention(q, k, v, block_size, causal=False):
    Q, K, V = (x.detach().double().numpy() for x in (q, k, v))
    T, S, D = Q.shape[2], K.shape[2], Q.shape[3]
    O = np.zeros_like(Q)
    for i in range(0, T, block_size):
        qi = Q[:, :, i : i + block_size] / np.sqrt(D)
        m = np.full(qi.shape[:3] + (1,), -1e300)
        l = np.zeros_like(m)
        o = np.zeros_like(qi)
        for j in range(0, S, block_size):
            kj, vj = K[:, :, j : j + block_size], V[:, :, j : j + block_size]
            s = qi @ kj.swapaxes(-1, -2)
            if causal:
                row, col = np.ogrid[i : i + s.shape[2], j : j + s.shape[3]]
                s = np.where(col <= row + S - T, s, -np.inf)
            top = np.maximum(m, s.max(-1, keepdims=True))
            p, c = np.exp(s - top), np.exp(m - top)
            l, o, m = l * c + p.sum(-1, keepdims=True), o * c + p @ vj, top
        O[:, :, i : i + block_size] = o / l
    return torch.from_numpy(O).to(q.dtype)
