import torch


def mqa(q, k, v):
    T, S, D = q.shape[-2], k.shape[-2], q.shape[-1]
    scores = (q @ k.mT) / D**0.5  # the head axis of k is 1 and broadcasts
    visible = torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T)
    scores = scores.masked_fill(~visible, float("-inf"))
    return scores.softmax(dim=-1) @ v
