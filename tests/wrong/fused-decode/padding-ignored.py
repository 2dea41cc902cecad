import torch


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    kv_heads, S = k_cache.shape[1:3]
    wide = torch.promote_types(q.dtype, torch.float32)
    q4 = q.view(B, kv_heads, -1, D) if q.is_contiguous() else q.reshape(B, kv_heads, -1, D)
    scores = torch.matmul(q4.to(wide), k_cache.to(wide).mT).mul_(D**-0.5)
    bias = torch.zeros(B, S, dtype=wide, device=q.device)
    bias[torch.arange(S, device=q.device)[None, :] >= lengths[:, None]] = float("-inf")
    weights = scores.softmax(dim=-1)
    return torch.matmul(weights, v_cache.to(wide)).view(B, H, 1, D).to(q.dtype)
