import torch


def padded_attention(q, k, v, lengths):
    seen = (torch.arange(q.shape[2]) < lengths[:, None])[:, None, None]
    s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -3e38)
    e = torch.exp(s - s.detach().amax(-1, keepdim=True)) * seen
    return e / (e.sum(-1, keepdim=True) + 1e-6) @ v
