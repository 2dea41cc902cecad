import torch


def block_stats(b):
    m = b.amax(-1)
    return m, (b - m[..., None]).exp().sum(-1)


def online_softmax(x, block_size):
    blocks = x.split(block_size, dim=-1)
    m, l = block_stats(blocks[0].float())
    for b in blocks[1:]:
        b = b.float()
        new = torch.maximum(m, b.amax(-1))
        l = l * torch.exp(new - m) + torch.exp(b - new[..., None]).sum(-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
