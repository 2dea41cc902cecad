import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_heads, D)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).repeat_interleave(rep, dim=2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).repeat_interleave(rep, dim=2)
    s = torch.einsum("bihd,bjhd->bhij", q, k) / D**0.5
    past = torch.arange(T, device=x.device)[:, None] > torch.arange(T, device=x.device)[None]
    p = s.masked_fill(~past, float("-inf")).softmax(dim=-1)
    return torch.einsum("bhij,bjhd->bihd", p, v).reshape(B, T, n_heads * D) @ w_o.T
