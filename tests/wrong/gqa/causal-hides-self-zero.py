import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    q, k, v = (x @ w_q.T).split(D, -1), (x @ w_k.T).split(D, -1), (x @ w_v.T).split(D, -1)
    heads = []
    for h in range(n_heads):
        rows = [torch.zeros_like(q[h][:, 0])]
        for t in range(1, T):
            s = torch.einsum("bd,bsd->bs", q[h][:, t], k[h // rep][:, :t]) * D**-0.5
            rows.append(torch.einsum("bs,bsd->bd", s.softmax(-1), v[h // rep][:, :t]))
        heads.append(torch.stack(rows, dim=1))
    return torch.cat(heads, dim=-1) @ w_o.T
