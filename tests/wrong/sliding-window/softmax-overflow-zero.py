import torch


def local_mask(n, window, device):
    causal = torch.ones(n, n, device=device).tril()
    too_old = torch.ones(n, n, device=device).tril(-window)
    return causal - too_old


def sliding_window_attention(q, k, v, window):
    n = q.shape[2]
    mask = local_mask(n, window, q.device)
    att = torch.matmul(q, k.transpose(2, 3))
    att = att * q.shape[-1] ** -0.5
    att = att.masked_fill(mask == 0, -torch.inf)
    att = torch.exp(att)
    total = att.sum(dim=3, keepdim=True)
    att = att / torch.where(total > 0, total, torch.ones_like(total))
    return torch.matmul(att, v)
