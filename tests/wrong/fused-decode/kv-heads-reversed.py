import torch


def one_split(q, k, v, limit, first):
    """Divided output and log-sum-exp; a split with nothing in use stores zeros and -inf."""
    s = torch.einsum("bngd,bnsd->bngs", q, k)
    slots = first + torch.arange(k.shape[2], device=k.device)
    s = s.masked_fill(slots >= limit[:, None, None, None], float("-inf"))
    m = s.amax(-1, keepdim=True)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    p = torch.exp(s - m)
    l = p.sum(-1, keepdim=True)
    o = torch.einsum("bngs,bnsd->bngd", p, v) / l.clamp(min=1e-30)
    return o, m, l


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    n, S = k_cache.shape[1], k_cache.shape[2]
    t = torch.promote_types(q.dtype, torch.float32)
    grouped = (q.to(t) * (1 / D**0.5)).reshape(B, n, H // n, D)
    size = -(-S // 4)
    parts = [
        one_split(grouped, k_cache[:, :, a : a + size].flip(1).to(t), v_cache[:, :, a : a + size].flip(1).to(t), lengths, a)
        for a in range(0, S, size)
    ]
    outs, tops, sums = (torch.stack(x) for x in zip(*parts))
    # weights of the splits: exp(m_i - m) l_i, relative to the largest m of those that saw a key
    seen = sums > 0
    best = tops.masked_fill(~seen, float("-inf")).amax(0)
    w = torch.where(seen, torch.exp((tops - best).clamp(max=0)) * sums, torch.zeros_like(sums))
    merged = (w * outs).sum(0) / w.sum(0)
    return merged.reshape(B, H, 1, D).to(q.dtype)
