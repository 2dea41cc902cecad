import torch


def mqa(q, k, v):
    T, D, S = q.shape[2], q.shape[3], k.shape[2]
    visible = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    scores = torch.einsum("bhtd,bsd->bhts", q.float(), k[:, 0].float()) * D**-0.5
    scores = torch.where(visible, scores, torch.tensor(-1e30))
    top = scores.max(dim=0, keepdim=True).values
    e = (scores - top).exp()
    p = e / e.sum(dim=0, keepdim=True)
    return torch.einsum("bhts,bsd->bhtd", p, v[:, 0].float()).to(q.dtype)
