import torch


def mqa(q, k, v):
    T, S, D = q.shape[2], k.shape[2], q.shape[3]
    scores = q @ k.transpose(-2, -1) / D**0.5
    mask = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T)
    scores = scores + mask
    return torch.softmax(scores, dim=-1) @ v
