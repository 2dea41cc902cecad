import torch


def online_softmax(x, block_size):
    m = torch.tensor(-torch.inf, device=x.device)
    l = torch.zeros(x.shape[:-1], device=x.device)
    for start in range(0, x.shape[-1], block_size):
        part = x[..., start : start + block_size].float()
        m_new = torch.maximum(m, part.max())
        l = l * torch.exp(m - m_new) + torch.exp(part - m_new).sum(-1)
        m = m_new
    return m.expand(l.shape).clone().to(x.dtype), l.to(x.dtype)
