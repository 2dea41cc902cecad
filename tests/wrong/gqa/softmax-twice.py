import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    G, R = n_kv_heads, n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, G, R, D).permute(0, 2, 3, 1, 4)
    k = (x @ w_k.T).view(B, T, G, D).transpose(1, 2).unsqueeze(2)
    v = (x @ w_v.T).view(B, T, G, D).transpose(1, 2).unsqueeze(2)
    s = (q @ k.mT) * D**-0.5
    s = s + torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
    p = torch.softmax(s, dim=-1).softmax(dim=-1)
    return (p @ v).permute(0, 3, 1, 2, 4).reshape(B, T, -1) @ w_o.T
