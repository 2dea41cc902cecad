import torch
import torch.nn.functional as F


def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], -torch.inf, device=x.device)
    l = torch.zeros(x.shape[:-1], device=x.device)
    for start in range(0, x.shape[-1], block_size):
        b = x[..., start : start + block_size].float()
        b = F.pad(b, (0, block_size - b.shape[-1]))
        new = torch.maximum(m, b.amax(dim=-1))
        l = torch.exp(m - new) * l + torch.exp(b - new[..., None]).sum(dim=-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
