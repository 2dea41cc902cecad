import torch
import math


def rotate_vector(vector, position, base):
    # vector has D numbers, D is even
    D = vector.shape[0]
    half = D // 2
    rotated = torch.zeros(D, dtype=torch.float32)
    for i in range(half):
        angle = position * base ** (-2 * i / D)
        a = float(vector[i])
        b = float(vector[i + half])
        rotated[i] = a * math.cos(angle) - b * math.sin(angle)
        rotated[i + half] = a * math.sin(angle) + b * math.cos(angle)
    return rotated


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B = x.shape[0]
    T = x.shape[1]
    S = k_cache.shape[2]
    D = k_cache.shape[3]
    heads_per_kv = n_heads // n_kv_heads

    # make bigger caches and copy the old ones in
    new_k_cache = torch.zeros(B, n_kv_heads, S + T, D, dtype=k_cache.dtype)
    new_v_cache = torch.zeros(B, n_kv_heads, S + T, D, dtype=v_cache.dtype)
    for s in range(S):
        new_k_cache[:, :, s] = k_cache[:, :, s]
        new_v_cache[:, :, s] = v_cache[:, :, s]

    out = torch.zeros(B, T, w_o.shape[0], dtype=x.dtype)
    for b in range(B):
        for t in range(T):
            position = S + t
            token = x[b, t].float()
            # write the key and the value of this token first, because it sees itself
            for g in range(n_kv_heads):
                key = w_k[g * D : (g + 1) * D].float() @ token
                value = w_v[g * D : (g + 1) * D].float() @ token
                new_k_cache[b, g, position] = rotate_vector(key, position, base)
                new_v_cache[b, g, position] = value
            all_heads = []
            for h in range(n_heads):
                query = w_q[h * D : (h + 1) * D].float() @ token
                query = rotate_vector(query, position, base)
                g = h // heads_per_kv
                keys = new_k_cache[b, g, : position + 1].float()
                values = new_v_cache[b, g, : position + 1].float()
                scores = keys @ query / math.sqrt(D)
                weights = torch.softmax(scores, dim=0)
                all_heads.append(weights @ values)
            together = torch.cat(all_heads)
            out[b, t] = w_o.float() @ together

    print("caches grew from", S, "to", new_k_cache.shape[2])
    return out, new_k_cache, new_v_cache
