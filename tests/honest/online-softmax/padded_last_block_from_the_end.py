import torch
import torch.nn.functional as F


def online_softmax(x, block_size):
    """Blocks from the last to the first, the partial one filled up with -inf."""
    n = x.shape[-1]
    m = torch.full(x.shape[:-1], -torch.inf, dtype=torch.float32)
    l = torch.ones_like(m)  # whatever it is, the first block multiplies it by exp(-inf)
    for start in reversed(range(0, n, block_size)):
        block = x[..., start : start + block_size].float()
        block = F.pad(block, (0, block_size - block.shape[-1]), value=-torch.inf)
        new = torch.maximum(m, block.amax(-1))
        l = torch.exp(m - new) * l + torch.exp(block - new[..., None]).sum(-1)
        m = new
    return m.to(x.dtype), l.to(x.dtype)
