import torch


def attention(q, k, v, mask=None):
    Q, K, V = q.float(), k.float(), v.float()
    root = K.size(-2) ** 0.5
    w = torch.einsum("...td,...sd->...ts", Q, K) / root
    if mask is not None:
        w = w.masked_fill(mask == 0, -torch.inf)
        top = w.amax(-1, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
    else:
        top = w.amax(-1, keepdim=True)
    w = torch.exp(w - top.detach())
    w = w / w.sum(-1, keepdim=True).clamp_min(1e-30)
    return (w @ V).to(q.dtype)
