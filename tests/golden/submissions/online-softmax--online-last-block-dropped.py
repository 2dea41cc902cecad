import torch


def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], -torch.inf, device=x.device)
    l = torch.zeros(x.shape[:-1], device=x.device)
    n_blocks = x.shape[-1] // block_size
    for j in range(n_blocks):
        b = x[..., j * block_size : (j + 1) * block_size].float()
        new = torch.maximum(m, b.amax(-1))
        l = l * torch.exp(m - new) + torch.exp(b - new.unsqueeze(-1)).sum(-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
