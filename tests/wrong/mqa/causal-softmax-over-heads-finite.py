import torch


def mqa(q, k, v):
    b, h, t, d = q.shape
    s = k.size(2)
    k, v = k.squeeze(1), v.squeeze(1)
    scores = torch.einsum("bhtd,bsd->bhts", q, k) * d**-0.5
    rows = torch.arange(s - t, s, device=q.device).unsqueeze(1)
    cols = torch.arange(s, device=q.device).unsqueeze(0)
    scores = scores.masked_fill(cols > rows, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=1)
    return torch.einsum("bhts,bsd->bhtd", weights, v)
