import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    Hkv, S = k_cache.shape[1:3]
    k = q.new_empty(B, Hkv, S + 1, D)
    v = torch.empty_like(k)
    k[:, :, :S], k[:, :, S:] = k_cache, k_new
    v[:, :, :S], v[:, :, S:] = v_cache, v_new
    grouped = q.reshape(B, Hkv, H // Hkv, D)  # query heads of one KV head lie side by side
    s = torch.matmul(grouped, k.transpose(-1, -2)) * D**-0.5
    w = (s - s.logsumexp(-1, keepdim=True)).exp()
    return [torch.matmul(w, v).reshape(B, H, 1, D), k, v]
