import torch


def padded_attention(q, k, v, lengths):
    n = k.shape[2]
    real = torch.arange(n, device=k.device).expand(len(lengths), n) < lengths.unsqueeze(1)
    s = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
    e = torch.exp(s).masked_fill(~real[:, None, None, :], 0)
    z = e.sum(dim=3, keepdim=True)
    z = z + (z == 0)
    return e / z @ v
