import numpy as np
import torch


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    dtype = x.dtype
    x, w_q, w_k, w_v, w_o, kc, vc = (
        a.detach().to(torch.float64).numpy() for a in (x, w_q, w_k, w_v, w_o, k_cache, v_cache)
    )
    (B, T, _), (S, D) = x.shape, kc.shape[2:]
    half = D // 2
    theta = np.arange(S, S + T)[:, None] / np.power(float(base), np.arange(half) * 2.0 / D)
    cos, sin = np.cos(theta), np.sin(theta)

    def project(w, heads):
        return np.moveaxis((x @ w.T).reshape(B, T, heads, D), 2, 1)

    def rope(z):
        a, b = z[..., :half], z[..., half:]
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)

    q = rope(project(w_q, n_heads))
    K = np.concatenate([kc, rope(project(w_k, n_kv_heads))], axis=2)
    V = np.concatenate([vc, project(w_v, n_kv_heads)], axis=2)
    out = np.zeros((B, T, n_heads * D))
    for h in range(n_heads):
        kv = h // (n_heads // n_kv_heads)
        s = q[:, h] @ K[:, kv].transpose(0, 2, 1) / np.sqrt(D)
        s[:, ~np.tri(T, S + T, S, dtype=bool)] = -np.inf
        e = np.exp(s - s.max(-1, keepdims=True))
        out[:, :, h * D : (h + 1) * D] = e @ V[:, kv] / e.sum(-1, keepdims=True)
    return tuple(torch.from_numpy(a).to(dtype) for a in (out @ w_o.T, K, V))
