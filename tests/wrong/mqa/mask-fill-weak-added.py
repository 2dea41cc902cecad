import torch


def mqa(q, k, v):
    B, H, T, D = q.shape
    S = k.shape[-2]
    k = k.expand(B, H, S, D)
    v = v.expand(B, H, S, D)
    bias = torch.full((T, S), -1e4, device=q.device, dtype=q.dtype).triu(S - T + 1)
    scores = torch.matmul(q, k.transpose(2, 3)) * (1 / D**0.5)
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.matmul(weights, v)
