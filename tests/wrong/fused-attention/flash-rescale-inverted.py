import math

import torch


def additive_mask(rows, cols, lowest, dtype):
    mask = torch.zeros(len(rows), len(cols), dtype=dtype, device=rows.device)
    return mask.masked_fill_(cols[None, :] > rows[:, None], lowest)


def fused_attention(q, k, v, causal):
    # Hidden scores get the lowest finite number; key 0 comes first, so m is a real score at once.
    B, H, T, D = q.shape
    H_kv, S, _ = k.shape[1:]
    real = torch.float64 if q.dtype == torch.float64 else torch.float32
    lowest = torch.finfo(real).min / 2
    tile_q, tile_k = 32, 32
    result = torch.empty(B, H, T, D, dtype=q.dtype, device=q.device)
    for h_kv in range(H_kv):
        heads = slice(h_kv * (H // H_kv), (h_kv + 1) * (H // H_kv))
        Q = q[:, heads].to(real)
        K = k[:, h_kv : h_kv + 1].to(real)
        V = v[:, h_kv : h_kv + 1].to(real)
        for i in range(math.ceil(T / tile_q)):
            lo, hi = i * tile_q, min((i + 1) * tile_q, T)
            rows = torch.arange(lo, hi, device=q.device) + (S - T)
            m, l, acc = None, 0.0, 0.0
            for j in range(math.ceil(S / tile_k)):
                cols = torch.arange(j * tile_k, min((j + 1) * tile_k, S), device=q.device)
                s = torch.matmul(Q[:, :, lo:hi], K[:, :, cols[0] : cols[-1] + 1].mT) / math.sqrt(D)
                if causal:
                    s += additive_mask(rows, cols, lowest, real)
                top = s.amax(-1, keepdim=True)
                new = top if m is None else torch.maximum(m, top)
                p = (s - new).exp()
                fade = 1.0 if m is None else (new - m).exp()
                l = l * fade + p.sum(-1, keepdim=True)
                acc = acc * fade + torch.matmul(p, V[:, :, cols[0] : cols[-1] + 1])
                m = new
            result[:, heads, lo:hi] = (acc / l).to(q.dtype)
    return result
