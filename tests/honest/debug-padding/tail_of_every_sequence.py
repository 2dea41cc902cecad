import torch


def left_padded_attention(q, k, v, lengths):
    out = torch.zeros_like(q)
    T, D = q.shape[2], q.shape[3]
    for b, n in enumerate(lengths.tolist()):
        if n == 0:
            continue
        first = T - n
        qs, ks, vs = q[b, :, first:], k[b, :, first:], v[b, :, first:]
        scores = qs @ ks.transpose(1, 2) / D**0.5
        future = torch.triu(torch.full((n, n), float("-inf"), dtype=q.dtype, device=q.device), 1)
        out[b, :, first:] = (scores + future).softmax(dim=-1) @ vs
    return out
