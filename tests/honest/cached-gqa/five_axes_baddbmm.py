import torch
import torch.nn.functional as F


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    """Groups are rows of one batched product; the mask goes in as the bias of baddbmm."""
    B, T, _ = x.shape
    S, D = k_cache.shape[-2:]
    G = n_heads // n_kv_heads
    q = F.linear(x, w_q).view(B, T, n_kv_heads, G, D).permute(0, 2, 3, 1, 4)
    rows = q.reshape(B * n_kv_heads, G * T, D)

    def grow(cache, w):
        return torch.cat([cache, F.linear(x, w).unflatten(-1, (n_kv_heads, D)).transpose(1, 2)], 2)

    k, v = grow(k_cache, w_k), grow(v_cache, w_v)
    bias = x.new_zeros(T, S + T)
    bias[:, S:] = torch.full((T, T), -torch.inf, dtype=x.dtype).triu(1)
    bias = bias.repeat(G, 1)  # (G * T, S + T), group after group
    flat_k, flat_v = k.flatten(0, 1), v.flatten(0, 1)
    scores = torch.baddbmm(bias.expand(B * n_kv_heads, -1, -1), rows, flat_k.mT, alpha=D**-0.5)
    mixed = torch.bmm(scores.softmax(-1), flat_v).view(B, n_kv_heads, G, T, D)
    return F.linear(mixed.permute(0, 3, 1, 2, 4).reshape(B, T, -1), w_o), k, v
