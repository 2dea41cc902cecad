import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[-2:]
    keep = torch.arange(T, device=q.device).expand(len(lengths), T) < lengths.unsqueeze(1)
    keep = keep.view(-1, 1, T, 1)
    s = torch.matmul(q, k.mT) * D**-0.5
    s = torch.where(keep, s, torch.finfo(s.dtype).min)
    p = torch.softmax(s, -1) * keep
    return torch.matmul(p, v)
