import torch
import torch.nn.functional as F


def attention(q, k, v, mask=None):
    """One more key, far below all others, whose value is zero: it takes the rows without a key."""
    s = torch.matmul(q, k.transpose(2, 3)).float() * (1.0 / q.shape[-1] ** 0.5)
    if mask is not None:
        bias = torch.zeros(mask.shape).masked_fill_(~mask, float("-inf"))
        s = s + bias
    s = F.pad(s, (0, 1), value=-1e30)
    values = F.pad(v, (0, 0, 0, 1))
    return torch.matmul(F.softmax(s, dim=-1).to(v.dtype), values)
