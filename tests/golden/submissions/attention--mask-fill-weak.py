import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    s = torch.bmm(q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2)).view(B, H, T, -1)
    s = s / D**0.5
    if mask is None:
        return s.softmax(-1) @ v
    s = torch.where(mask, s, torch.tensor(-1e4, dtype=s.dtype, device=s.device))
    out = s.softmax(-1) @ v
    return torch.where(mask.any(-1, keepdim=True), out, torch.zeros_like(out))
