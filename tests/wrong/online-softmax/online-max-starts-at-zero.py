import torch


def online_softmax(x, block_size):
    m = torch.zeros(x.shape[:-1], dtype=torch.float32, device=x.device)
    l = torch.zeros_like(m)
    for start in range(0, x.shape[-1], block_size):
        part = x[..., start : start + block_size].float()
        new = torch.maximum(m, part.amax(dim=-1))
        l = l * torch.exp(m - new) + torch.exp(part - new.unsqueeze(-1)).sum(dim=-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
