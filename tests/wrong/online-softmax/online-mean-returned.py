import torch


def online_softmax(x, block_size):
    n = x.shape[-1]
    m = torch.full(x.shape[:-1], -torch.inf, device=x.device)
    l = torch.zeros(x.shape[:-1], device=x.device)
    for i in range(0, n, block_size):
        tile = x[..., i : i + block_size].float()
        m_next = torch.maximum(m, tile.amax(-1))
        l = l * (m - m_next).exp() + (tile - m_next[..., None]).exp().sum(-1)
        m = m_next
    return m.to(x.dtype), (l / n).to(x.dtype)
