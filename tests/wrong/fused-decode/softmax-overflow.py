import torch


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    N, S = k_cache.shape[1:3]
    f = torch.promote_types(q.dtype, torch.float32)
    rows = q.reshape(B, N, H // N, D).to(f) / D**0.5
    num, den = 0, 0
    for a in range(0, S, 64):
        k, v = k_cache[:, :, a : a + 64].to(f), v_cache[:, :, a : a + 64].to(f)
        e = torch.exp(rows @ k.mT)
        used = a + torch.arange(k.shape[2], device=q.device) < lengths.view(B, 1, 1, 1)
        e = torch.where(used, e, 0.0)
        num = num + e @ v
        den = den + e.sum(-1, keepdim=True)
    return (num / den).reshape(B, H, 1, D).to(q.dtype)
