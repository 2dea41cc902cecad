import torch


def attention(q, k, v, mask=None):
    s = torch.matmul(q.double(), k.double().mT) * q.shape[-1] ** -0.5
    if mask is not None:
        s = torch.where(mask, s, -torch.inf)
    peak = s.max(-1, keepdim=True).values.clamp(min=-1e300)
    return torch.exp(s - peak).matmul(v.double()).to(v.dtype)
