import torch


def left_padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    out = torch.zeros_like(q)
    for b in range(B):
        n = int(lengths[b])
        first = T - n
        for i in range(T):
            lo, hi = first, i
            if hi <= lo:
                continue
            s = torch.einsum("hd,hkd->hk", q[b, :, i].double(), k[b, :, lo:hi].double())
            s = s * D**-0.5
            w = s.softmax(dim=1)
            out[b, :, i] = torch.einsum("hk,hkd->hd", w, v[b, :, lo:hi].double()).to(q.dtype)
    return out
