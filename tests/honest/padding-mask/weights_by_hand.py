import torch


def padded_attention(q, k, v, lengths):
    D = q.size(-1)
    keep = (torch.arange(k.size(2)).view(1, 1, 1, -1) < lengths.view(-1, 1, 1, 1)).expand(
        q.size(0), q.size(1), q.size(2), k.size(2)
    )
    s = (q.unsqueeze(3) * k.unsqueeze(2)).sum(-1) * D**-0.5
    s = torch.where(keep, s, torch.full_like(s, -torch.inf))
    top = s.amax(-1, keepdim=True).detach()
    top = torch.where(top.isinf(), torch.zeros_like(top), top)
    e = torch.exp(s - top)
    w = e / e.sum(-1, keepdim=True).clamp(min=1e-9)
    return (w.unsqueeze(-1) * v.unsqueeze(2)).sum(3)
