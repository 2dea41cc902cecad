import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    Q = (x @ w_q.T).unflatten(2, (n_heads, D))
    K = (x @ w_k.T).unflatten(2, (n_kv_heads, D))
    V = (x @ w_k.T).unflatten(2, (n_kv_heads, D))
    keep = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    out = []
    for h in range(n_heads):
        s = torch.bmm(Q[:, :, h], K[:, :, h // rep].transpose(1, 2)) * D**-0.5
        p = s.masked_fill(~keep, -torch.inf).softmax(-1)
        out.append(torch.bmm(p, V[:, :, h // rep]))
    return torch.cat(out, -1) @ w_o.T
