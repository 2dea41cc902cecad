import torch


def mix(q, k, v):
    T, D = q.shape[-2:]
    s = q @ k.mT / D**0.5
    s = s.masked_fill(torch.ones(T, T, device=q.device).triu(1).bool(), -torch.inf)
    return torch.softmax(s, dim=-1) @ v


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    kv = x @ torch.cat((w_v, w_k), dim=0).T
    k, v = kv.view(B, T, 2, n_kv_heads, D).permute(2, 0, 3, 1, 4).repeat_interleave(
        n_heads // n_kv_heads, dim=2
    )
    return mix(q, k, v).transpose(1, 2).reshape(B, T, -1) @ w_o.T
