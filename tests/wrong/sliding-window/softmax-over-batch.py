import torch


def sliding_window_attention(q, k, v, window):
    T, D = q.shape[-2:]
    i = torch.arange(T)
    gap = i.view(T, 1) - i.view(1, T)
    banned = (gap < 0) | (gap >= window)
    logits = torch.matmul(q.double(), k.double().transpose(2, 3)) / D**0.5
    logits = logits.masked_fill(banned, float("-inf"))
    w = torch.softmax(logits, 0).nan_to_num()
    return torch.matmul(w, v.double()).to(q.dtype)
