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
    att = torch.softmax(att * mask.to(att.dtype), dim=3)
    return torch.matmul(att, v)
