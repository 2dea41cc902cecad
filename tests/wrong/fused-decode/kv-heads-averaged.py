import torch


@torch.inference_mode()
def fused_decode(q, k_cache, v_cache, lengths):
    B, H, one, D = q.shape
    N, S = k_cache.size(1), k_cache.size(2)
    F = torch.float64 if q.dtype == torch.float64 else torch.float32
    x = q.to(F).reshape(B, N, H // N, D)
    lowest = torch.finfo(F).min
    # slot 0 is always in use, so the first block gives every row a real maximum
    top = torch.full((B, N, H // N), lowest, dtype=F, device=q.device)
    den = torch.zeros_like(top)
    num = torch.zeros_like(x)
    for a in range(0, S, 37):
        z = min(a + 37, S)
        used = torch.arange(a, z, device=q.device).expand(B, -1) < lengths.unsqueeze(1)
        used = used[:, None, None]
        s = torch.einsum("bngd,bnsd->bngs", x, k_cache[:, :, a:z].to(F).mean(1, True).expand(B, N, z - a, D)).div(D**0.5)
        s = torch.where(used, s, lowest)
        new = torch.maximum(top, s.amax(3))
        p = torch.exp(s - new[..., None]) * used
        c = torch.exp(top - new)
        den = den * c + p.sum(3)
        num = num * c[..., None] + torch.einsum("bngs,bnsd->bngd", p, v_cache[:, :, a:z].to(F).mean(1, True).expand(B, N, z - a, D))
        top = new
    return (num / den[..., None]).reshape(B, H, one, D).to(q.dtype)
