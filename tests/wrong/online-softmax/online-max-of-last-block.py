import torch


def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], -torch.inf, dtype=torch.float32, device=x.device)
    l = torch.zeros_like(m)
    for b in x.split(block_size, dim=-1):
        m_new = b.float().amax(dim=-1)
        l = l * torch.exp(m - m_new) + torch.exp(b.float() - m_new[..., None]).sum(dim=-1)
        m = m_new
    return m.to(x.dtype), l.to(x.dtype)
