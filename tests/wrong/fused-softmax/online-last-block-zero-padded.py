import torch


def fused_softmax(x):
    """A row in one block of the next power of two."""
    rows, cols = x.shape
    f = torch.promote_types(x.dtype, torch.float32)
    block = torch.zeros(1 << max(0, (cols - 1).bit_length()), dtype=f, device=x.device)
    out = torch.empty_like(x)
    for i in range(rows):
        block.zero_()
        block[:cols] = x[i]
        e = torch.exp(block - block.max())
        out[i] = (e / e.sum())[:cols]
    return out
