import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    G = n_heads // n_kv_heads
    q = torch.nn.functional.linear(x, w_q).view(B, T, n_kv_heads, G, -1)
    k = torch.nn.functional.linear(x, w_k).view(B, T, n_kv_heads, -1)
    v = torch.nn.functional.linear(x, w_v).view(B, T, n_kv_heads, -1)
    s = torch.einsum("btngd,bsnd->bngts", q, k) * q.shape[-1] ** -0.5
    s = s.masked_fill(torch.ones(T, T).triu(1) > 0, float("-inf"))
    w = s.softmax(dim=1).nan_to_num(0.0)
    return torch.einsum("bngts,bsnd->btngd", w, v).flatten(2) @ w_o.T
