import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[2:]
    idx = torch.arange(T, device=q.device)
    valid = (idx[None, :] < lengths[:, None])[:, None, None, :]
    scores = q @ k.transpose(-2, -1) / D**0.5
    scores = scores.masked_fill(valid, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    return weights @ v
