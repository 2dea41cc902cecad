import torch


def online_softmax(x, block_size):
    rows = x.reshape(-1, x.shape[-1])
    m = torch.full((rows.shape[0],), -torch.inf, device=x.device)
    l = torch.zeros(rows.shape[0], device=x.device)
    for start in range(0, rows.shape[1], block_size):
        tile = rows[:, start : start + block_size].float()
        m = torch.maximum(m, tile.max(dim=1).values)
        l = l + tile.exp().sum(dim=1)
    return m.reshape(x.shape[:-1]).to(x.dtype), l.reshape(x.shape[:-1]).to(x.dtype)
