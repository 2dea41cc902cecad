import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    slots = torch.arange(T, device=q.device)
    rows = []
    for b in range(B):
        pad = slots >= lengths[b] - 1
        s = torch.einsum("htd,hsd->hts", q[b], k[b]) * D**-0.5
        s = s.masked_fill(pad, torch.finfo(s.dtype).min)
        w = s.softmax(dim=-1)
        rows.append(torch.einsum("hts,hsd->htd", w, v[b]))
    return torch.stack(rows)
