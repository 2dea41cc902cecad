import torch

LOG2E = 1.4426950408889634


@torch.inference_mode()
def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], float("-inf"))
    l = torch.zeros(x.shape[:-1])
    for block in x.float().split(block_size, -1):
        new = torch.maximum(m, block.amax(-1))
        l = l * torch.exp2((m - new) * LOG2E) + torch.exp2((block - new[..., None]) * LOG2E).sum(-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
