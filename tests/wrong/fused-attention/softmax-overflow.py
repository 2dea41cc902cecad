import torch

STEP = 61


def fused_attention(q, k, v, causal):
    """Two passes over the keys: the maximum of each query, then the sums, with no correction."""
    n_batch, n_heads, n_q, width = q.shape
    n_kv, n_k = k.shape[1], k.shape[2]
    share = n_heads // n_kv
    dtype = torch.promote_types(q.dtype, torch.float32)
    inf = float("inf")

    def scores(qh, kh, start):
        s = torch.matmul(qh, kh[start : start + STEP].to(dtype).t())
        if causal:
            key = torch.arange(start, start + s.shape[1], device=q.device)
            query = torch.arange(n_q, device=q.device) + n_k - n_q
            s = s + torch.zeros_like(s).masked_fill(key[None, :] > query[:, None], -inf)
        return s

    out = torch.empty_like(q)
    for b in range(n_batch):
        for h in range(n_heads):
            qh = q[b, h].to(dtype) / width**0.5
            kh = k[b, h // share]
            vh = v[b, h // share]
            starts = range(0, n_k, STEP)
            top = torch.full((n_q,), -inf, dtype=dtype, device=q.device)
            top.zero_()
            total = torch.zeros_like(top)
            mixed = torch.zeros_like(qh)
            for start in starts:
                e = torch.exp(scores(qh, kh, start) - top[:, None])
                total += e.sum(dim=1)
                mixed += e @ vh[start : start + STEP].to(dtype)
            out[b, h] = (mixed / total[:, None]).to(q.dtype)
    return out
