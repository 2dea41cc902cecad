import torch


def stable_softmax(x):
    m = x.max(dim=-1, keepdim=True).values
    e = torch.exp(x - m)
    return e / e.sum(dim=-1, keepdim=True)


def sliding_window_attention(q, k, v, window):
    dtype = q.dtype
    q, k, v = q.float(), k.float(), v.float()
    T, D = q.shape[-2], q.shape[-1]
    idx = torch.arange(T, device=q.device)
    delta = idx.unsqueeze(1) - idx.unsqueeze(0)
    mask = delta.abs().lt(window)
    scores = torch.matmul(q, k.transpose(-1, -2)) / D**0.5
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.matmul(stable_softmax(scores), v).to(dtype)
