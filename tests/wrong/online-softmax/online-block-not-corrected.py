import torch


def online_softmax(x, block_size):
    m, l = None, None
    for lo in range(0, x.shape[-1], block_size):
        b = x[..., lo : lo + block_size].float()
        bm = b.amax(-1)
        bl = torch.exp(b - bm.unsqueeze(-1)).sum(-1)
        if m is None:
            m, l = bm, bl
        else:
            new = torch.maximum(m, bm)
            l = l * torch.exp(m - new) + bl
            m = new
    return m.to(x.dtype), l.to(x.dtype)
