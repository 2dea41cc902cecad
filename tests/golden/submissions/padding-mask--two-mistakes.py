import torch


def padded_attention(q, k, v, lengths):
    t = q.shape[2]
    keep = torch.arange(t) <= lengths[:, None]
    scores = q @ k.transpose(-2, -1)
    scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
    return torch.softmax(scores, dim=-1).nan_to_num(0.0) @ v
