import torch


def attention(q, k, v, mask=None):
    width = v.size(-1)
    rows = []
    for t in range(q.size(2)):
        s = (k * q[:, :, t : t + 1]).sum(-1) / width**0.5
        if mask is not None:
            m = mask.expand(q.size(0), q.size(1), q.size(2), k.size(2))[:, :, t]
            s = s.masked_fill(~m, -float("inf"))
            p = torch.softmax(s, -1).masked_fill(~m, 0.0)
        else:
            p = torch.softmax(s, -1)
        rows.append((p.unsqueeze(-1) * v).sum(2))
    return torch.stack(rows, 2)
