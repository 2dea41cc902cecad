import torch

MASKED = -10_000.0


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    b, t, _ = x.shape
    width = w_q.shape[0] // n_heads
    per_group = n_heads // n_kv_heads
    q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T
    i = torch.arange(t, device=x.device)
    allowed = i.unsqueeze(0) <= i.unsqueeze(1)
    heads = []
    for h in range(n_heads):
        g = h // per_group
        qh = q[..., h * width : (h + 1) * width]
        kh = k[..., g * width : (g + 1) * width]
        vh = v[..., g * width : (g + 1) * width]
        s = torch.bmm(qh, kh.transpose(1, 2)) / width**0.5
        s = torch.where(allowed, s, MASKED)
        heads.append(torch.bmm(s.softmax(dim=-1), vh))
    return torch.cat(heads, dim=-1) @ w_o.T
