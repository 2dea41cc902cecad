import torch


def padded_attention(q, k, v, lengths):
    out = []
    for b, n in enumerate(lengths.tolist()):
        if n == 0:
            out.append(q[b] * 0.0)
            continue
        s = torch.einsum("htd,hsd->hts", q[b], k[b, :, :n]) / q.shape[-1] ** 0.5
        out.append(torch.einsum("hts,hsd->htd", torch.softmax(s, 2), v[b, :, :n]))
    return torch.stack(out)
