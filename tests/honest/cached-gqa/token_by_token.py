import torch


def decode_one(token, weights, n_heads, n_kv_heads, keys, values):
    w_q, w_k, w_v, w_o = weights
    B, D = token.shape[0], keys.shape[-1]
    keys = torch.cat([keys, (token @ w_k.T).reshape(B, n_kv_heads, 1, D)], 2)
    values = torch.cat([values, (token @ w_v.T).reshape(B, n_kv_heads, 1, D)], 2)
    q = (token @ w_q.T).reshape(B, n_kv_heads, n_heads // n_kv_heads, D)
    p = torch.softmax(q @ keys.transpose(2, 3) / D**0.5, dim=3)
    return (p @ values).reshape(B, n_heads * D) @ w_o.T, keys, values


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    outs = []
    for token in x.unbind(dim=1):
        out, k_cache, v_cache = decode_one(
            token, (w_q, w_k, w_v, w_o), n_heads, n_kv_heads, k_cache, v_cache
        )
        outs.append(out)
    return torch.stack(outs, dim=1), k_cache, v_cache
