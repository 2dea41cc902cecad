import torch


def online_softmax(x, block_size):
    first = x[..., :block_size].float()
    m = first.amax(dim=-1)
    l = torch.exp(first - m[..., None]).sum(dim=-1)
    for i in range(block_size, x.shape[-1], block_size):
        l = l + torch.exp(x[..., i : i + block_size].float() - m[..., None]).sum(dim=-1)
    return m.to(x.dtype), l.to(x.dtype)
