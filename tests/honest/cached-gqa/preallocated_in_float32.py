import torch


@torch.no_grad()
def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    """Buffers of S + T slots, written by slice; scores in at least single precision."""
    b, t, _ = x.shape
    s, d = k_cache.shape[2:]
    up = torch.promote_types(x.dtype, torch.float32)
    buffers = []
    for cache, w in ((k_cache, w_k), (v_cache, w_v)):
        buffer = torch.empty((b, n_kv_heads, s + t, d), dtype=cache.dtype, device=cache.device)
        buffer[:, :, :s].copy_(cache)
        buffer.narrow(2, s, t).copy_(torch.matmul(x, w.t()).view(b, t, n_kv_heads, d).movedim(2, 1))
        buffers.append(buffer)
    k, v = (z.to(up).unsqueeze(2) for z in buffers)  # (b, kv, 1, s + t, d)
    q = torch.matmul(x, w_q.t()).to(up).view(b, t, n_kv_heads, -1, d).permute(0, 2, 3, 1, 4)
    scores = torch.matmul(q, k.mT).mul_(d**-0.5)
    last = torch.arange(s, s + t)  # what each query may see at most
    scores.masked_fill_(torch.arange(s + t).gt(last.unsqueeze(1)), -torch.inf)
    scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    mixed = torch.matmul(scores, v).div_(scores.sum(-1, keepdim=True))
    out = mixed.permute(0, 3, 1, 2, 4).flatten(2) @ w_o.to(up).t()
    return out.to(x.dtype), *buffers
