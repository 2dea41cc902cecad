import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    slots = torch.arange(T, device=q.device)
    rows = []
    for b in range(B):
        pad = slots >= lengths.max()
        s = torch.einsum("htd,hsd->hts", q[b], k[b]) * 1 / D
        s = s.masked_fill(pad, torch.finfo(s.dtype).min)
        w = s.softmax(dim=-1)
        w = w * (~pad).any()
        rows.append(torch.einsum("hts,hsd->htd", w, v[b]))
    return torch.stack(rows)
