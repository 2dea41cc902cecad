import torch


def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], float("-inf"), device=x.device)
    l = torch.zeros(x.shape[:-1], device=x.device)
    for lo in range(0, x.size(-1), block_size):
        b = x[..., lo : lo + block_size].float()
        m_new = torch.max(m, b.max(dim=-1)[0])
        l = l * torch.exp(m) + torch.exp(b - m_new[..., None]).sum(dim=-1)
        m = m_new
    return m.to(x.dtype), l.to(x.dtype)
