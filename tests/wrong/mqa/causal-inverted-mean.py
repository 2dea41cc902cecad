import torch


def mqa(q, k, v):
    t, s = q.size(2), k.size(2)
    scores = (q / q.size(3) ** 0.5) @ k.transpose(2, 3)
    visible = torch.arange(s, device=q.device) <= torch.arange(s - t, s, device=q.device)[:, None]
    scores = torch.where(visible, torch.finfo(scores.dtype).min, scores)
    return scores.softmax(dim=-1) @ v
