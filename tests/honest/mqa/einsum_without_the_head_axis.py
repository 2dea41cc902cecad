import torch


def mqa(q, k, v):
    dtype = q.dtype
    q, k, v = q.float(), k.float().squeeze(1), v.float().squeeze(1)
    T, S = q.size(2), k.size(1)
    logits = torch.einsum("bhtd,bsd->bhts", q, k) * q.size(-1) ** -0.5
    query_at = torch.arange(S - T, S)[:, None]
    key_at = torch.arange(S)[None, :]
    logits = torch.where(key_at <= query_at, logits, torch.tensor(-torch.inf))
    return torch.einsum("bhts,bsd->bhtd", torch.softmax(logits, -1), v).to(dtype)
