import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    # as a decoder would run it: token t only ever meets the keys made so far
    B, T, _ = x.shape
    X, WQ, WK, WV, WO = (a.double() for a in (x, w_q, w_k, w_v, w_o))
    D = w_q.shape[0] // n_heads
    freq = torch.tensor(float(base), dtype=torch.float64) ** (-torch.arange(0, D, 2) / D)
    keys, values, outputs = [], [], []
    for t in range(T):
        phi = positions[t] * freq
        c, s = torch.cos(phi), torch.sin(phi)

        def rope(y):
            a, b = y.split(D // 2, dim=-1)
            return torch.cat((a * c - b * s, a * s + b * c), -1)

        token = X[:, t]
        keys.append(rope((token @ WK.T).reshape(B, n_kv_heads, 1, D)))
        values.append((token @ WV.T).reshape(B, n_kv_heads, 1, D))
        q = rope((token @ WQ.T).reshape(B, n_kv_heads, n_heads // n_kv_heads, D))
        K, V = torch.cat(keys, 2), torch.cat(values, 2)  # (B, H_kv, t + 1, D)
        p = torch.softmax(q @ K.transpose(2, 3) / D**0.5, -1)  # (B, H_kv, G, t + 1)
        outputs.append((p @ V).flatten(1) @ WO.T)
    return torch.stack(outputs, 1).to(x.dtype)
