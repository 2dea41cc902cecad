import torch


def sliding_window_attention(q, k, v, window):
    n, d = q.shape[2:]
    allowed = torch.ones(n, n, device=q.device, dtype=torch.bool).tril().triu(1 - window)
    scores = (q.float() @ k.float().transpose(2, 3)) / d**0.5
    scores = scores + allowed
    num = torch.exp(scores - scores.amax(-1, keepdim=True))
    den = num.sum(-1, keepdim=True)
    return ((num / den) @ v.float()).to(q.dtype)
