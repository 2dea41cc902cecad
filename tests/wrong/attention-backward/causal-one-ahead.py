import torch


def attention_backward(q, k, v, d_out):
    """One query at a time."""
    n, dim = q.shape[-2:]
    r = dim**0.5
    Q, K, V, G = (t.to(torch.float64) for t in (q, k, v, d_out))
    gq, gk, gv = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    for i in range(n):
        seen = slice(0, i + 2)
        qi, gi = Q[:, :, i], G[:, :, i]
        p = torch.softmax(torch.einsum("bhd,bhjd->bhj", qi, K[:, :, seen]) / r, dim=-1)
        gp = torch.einsum("bhd,bhjd->bhj", gi, V[:, :, seen])
        gs = p * (gp - (p * gp).sum(-1, keepdim=True))
        gq[:, :, i] = torch.einsum("bhj,bhjd->bhd", gs, K[:, :, seen]) / r
        gk[:, :, seen] += gs[..., None] * qi[:, :, None] / r
        gv[:, :, seen] += p[..., None] * gi[:, :, None]
    return gq.to(q.dtype), gk.to(q.dtype), gv.to(q.dtype)
