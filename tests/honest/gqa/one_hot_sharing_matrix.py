import torch
import torch.nn.functional as F


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    group = torch.arange(n_heads) // (n_heads // n_kv_heads)
    share = F.one_hot(group, n_kv_heads).to(x.dtype)
    q = (x @ w_q.T).unflatten(-1, (n_heads, -1))
    k = (x @ w_k.T).unflatten(-1, (n_kv_heads, -1))
    v = (x @ w_v.T).unflatten(-1, (n_kv_heads, -1))
    s = torch.einsum("bthd,bsgd,hg->bhts", q, k, share) / q.shape[-1] ** 0.5
    n = x.shape[1]
    late = torch.ones(n, n, dtype=torch.bool).tril().logical_not()
    p = s.masked_fill(late, torch.finfo(s.dtype).min).softmax(-1)
    return torch.einsum("bhts,hg,bsgd->bthd", p, share, v).flatten(-2) @ w_o.T
