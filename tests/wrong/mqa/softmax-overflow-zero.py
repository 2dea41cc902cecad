import torch


def mqa(q, k, v):
    B, H, T, D = q.shape
    S = k.shape[2]
    scores = torch.matmul(q.float(), k.float().transpose(2, 3)) / D**0.5
    causal = torch.tril(torch.ones(T, S, device=q.device), diagonal=S - T).bool()
    scores = scores.masked_fill(~causal, float("-inf"))
    weights = torch.exp(scores)
    total = weights.sum(dim=-1, keepdim=True)
    weights = weights / torch.where(total == 0, 1.0, total)
    return torch.matmul(weights, v.float()).to(q.dtype)
