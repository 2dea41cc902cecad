import torch


def padded_attention(q, k, v, lengths):
    rows = []
    for qb, kb, vb, n in zip(q, k, v, lengths.clamp(min=1).tolist()):
        s = qb.double() @ kb[:, :n].double().transpose(-1, -2)
        w = torch.softmax(s / q.size(-1) ** 0.5, dim=-1)
        rows.append(w @ vb[:, :n].double())
    return torch.stack(rows).type_as(q)
