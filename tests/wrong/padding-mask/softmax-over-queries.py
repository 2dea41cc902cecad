import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[2:]
    seen = torch.arange(T, device=q.device).view(1, 1, 1, T) < lengths.view(-1, 1, 1, 1)
    s = (q @ k.mT / D**0.5).masked_fill(~seen, float("-inf"))
    w = torch.softmax(s, dim=2)
    w = torch.where(seen, w, torch.zeros_like(w))
    return w @ v
