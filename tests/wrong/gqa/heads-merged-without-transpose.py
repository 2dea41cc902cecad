import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2).repeat_interleave(rep, dim=1)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2).repeat_interleave(rep, dim=1)
    s = torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5
    s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -1e20)
    out = torch.einsum("bhij,bhjd->bhid", torch.softmax(s, -1), v)
    return out.contiguous().view(B, T, n_heads * D) @ w_o.T
