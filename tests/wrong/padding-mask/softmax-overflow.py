import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[2:]
    keep = torch.arange(T, device=q.device)[None, :] < lengths[:, None]
    keep = keep[:, None, None, :]
    e = torch.exp((q @ k.transpose(-1, -2) / D**0.5).float())
    e = torch.where(keep, e, torch.zeros_like(e))
    w = e / (e.sum(dim=-1, keepdim=True) + (lengths == 0).view(-1, 1, 1, 1))
    return w.to(v.dtype) @ v
