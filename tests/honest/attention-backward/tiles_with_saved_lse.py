import torch

BLOCK = 4


def _forward(q, k, v, scale):
    """Tiled forward: the output and the log-sum-exp of every row, nothing else is kept."""
    T = q.shape[-2]
    rows = torch.arange(T, device=q.device)[:, None]
    m = q.new_full((*q.shape[:-1], 1), torch.finfo(q.dtype).min)
    l = torch.zeros_like(m)
    o = torch.zeros_like(v)
    for j in range(0, T, BLOCK):
        cols = torch.arange(j, min(j + BLOCK, T), device=q.device)
        hide = cols > rows
        s = (q @ k[..., j : j + BLOCK, :].mT) * scale
        s = s.masked_fill(hide, torch.finfo(q.dtype).min)
        m2 = torch.maximum(m, s.amax(-1, keepdim=True))
        e = torch.exp(s - m2).masked_fill(hide, 0)
        f = torch.exp(m - m2)
        l = l * f + e.sum(-1, keepdim=True)
        o = o * f + e @ v[..., j : j + BLOCK, :]
        m = m2
    return o / l, m + torch.log(l)


def attention_backward(q, k, v, d_out):
    dtype = q.dtype
    acc = torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
    q, k, v, do = (x.to(acc) for x in (q, k, v, d_out))
    T, scale = q.shape[-2], q.shape[-1] ** -0.5
    o, lse = _forward(q, k, v, scale)
    delta = (do * o).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for j in range(0, T, BLOCK):
        kj, vj = k[..., j : j + BLOCK, :], v[..., j : j + BLOCK, :]
        for i in range(j, T, BLOCK):  # tiles above the diagonal are empty
            qi, doi = q[..., i : i + BLOCK, :], do[..., i : i + BLOCK, :]
            p = torch.exp(qi @ kj.mT * scale - lse[..., i : i + BLOCK, :])
            if i == j:
                p = p.tril()
            ds = p * (doi @ vj.mT - delta[..., i : i + BLOCK, :]) * scale
            dv[..., j : j + BLOCK, :] += p.mT @ doi
            dk[..., j : j + BLOCK, :] += ds.mT @ qi
            dq[..., i : i + BLOCK, :] += ds @ kj
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
