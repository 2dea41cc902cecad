import torch
import torch.nn.functional as F


def padded_attention(q, k, v, lengths):
    T = q.shape[2]
    rows = [F.pad(torch.ones(n, dtype=torch.bool), (0, T - n)) for n in lengths.tolist()]
    seen = torch.stack(rows)[:, None, None, :]
    s = q @ k.mT * q.shape[-1] ** -0.5
    s = s.masked_fill(~seen, torch.finfo(s.dtype).min)
    return (torch.softmax(s, -1) * seen) @ v
