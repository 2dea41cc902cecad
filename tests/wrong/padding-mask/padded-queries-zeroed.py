import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    pos = torch.arange(T, device=q.device)
    real = pos.view(1, T) < lengths.view(B, 1)
    s = torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5
    s = s.masked_fill(~real.view(B, 1, 1, T), torch.finfo(s.dtype).min)
    out = torch.einsum("bhij,bhjd->bhid", torch.softmax(s, -1), v)
    return out * real.view(B, 1, T, 1)
