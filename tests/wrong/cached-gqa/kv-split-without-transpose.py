import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    kind = x.dtype if x.dtype == torch.float64 else torch.float32
    xs = x.to(kind)
    bsz, q_len, _ = x.shape
    past_len, width = k_cache.shape[2:]
    total = past_len + q_len
    per = n_heads // n_kv_heads

    k_new = (xs @ w_k.to(kind).T).view(bsz, n_kv_heads, q_len, width)
    v_new = (xs @ w_v.to(kind).T).view(bsz, n_kv_heads, q_len, width)
    k_all = torch.cat([k_cache.to(kind), k_new], dim=2)
    v_all = torch.cat([v_cache.to(kind), v_new], dim=2)
    q = (xs @ w_q.to(kind).T).view(bsz, q_len, n_kv_heads, per, width)
    q = q.permute(0, 2, 3, 1, 4).reshape(bsz * n_kv_heads, per * q_len, width)

    blocked = torch.arange(total) > (torch.arange(q_len) + past_len).repeat(per)[:, None]
    fill = torch.finfo(kind).min
    base = torch.zeros(bsz * n_kv_heads, per * q_len, total, dtype=kind)
    logits = torch.baddbmm(base, q, k_all.flatten(0, 1).mT, beta=0, alpha=width**-0.5)
    logits = logits.masked_fill(blocked, fill)
    probs = logits.softmax(-1)
    o = torch.bmm(probs, v_all.flatten(0, 1))
    o = o.view(bsz, n_kv_heads, per, q_len, width).permute(0, 3, 1, 2, 4)
    out = o.reshape(bsz, q_len, n_heads * width) @ w_o.to(kind).T
    return out.to(x.dtype), k_all.to(x.dtype), v_all.to(x.dtype)
