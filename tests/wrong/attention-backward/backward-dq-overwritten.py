import torch


def attention_backward(q, k, v, d_out):
    B, H, T, D = q.shape
    scale, size = D**-0.5, 2
    q32, k32, v32, g32 = q.float(), k.float(), v.float(), d_out.float()
    order = torch.arange(T)
    scores = (q32 @ k32.transpose(2, 3)) * scale
    scores = scores.masked_fill(order[None, :] > order[:, None], -torch.inf)
    lse = torch.logsumexp(scores, dim=-1, keepdim=True)
    out = torch.exp(scores - lse) @ v32
    delta = (out * g32).sum(dim=-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q32), torch.zeros_like(k32), torch.zeros_like(v32)
    for a in range(0, T, size):
        rows = slice(a, min(a + size, T))
        for b in range(0, a + size, size):
            cols = slice(b, min(b + size, T))
            p = torch.exp(scores[:, :, rows, cols] - lse[:, :, rows])
            dp = g32[:, :, rows] @ v32[:, :, cols].transpose(2, 3)
            ds = p * (dp - delta[:, :, rows]) * scale
            dq[:, :, rows] = ds @ k32[:, :, cols]
            dk[:, :, cols] += ds.transpose(2, 3) @ q32[:, :, rows]
            dv[:, :, cols] += p.transpose(2, 3) @ g32[:, :, rows]
    return dq.to(q.dtype), dk.to(q.dtype), dv.to(q.dtype)
