import torch


def mqa(q, k, v):
    t, s = q.size(2), k.size(2)
    scores = (q / q.size(1) ** 0.5) @ k.transpose(2, 3)
    visible = torch.arange(s, device=q.device) <= torch.arange(s - t, s, device=q.device)[:, None]
    scores = torch.where(visible, scores, torch.finfo(scores.dtype).min)
    return torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True)) @ v
