import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    pad = torch.arange(T, device=q.device) < lengths[:, None]
    causal = torch.ones(T, T, dtype=torch.bool, device=q.device).tril()
    mask = causal & pad[:, None, None, :]
    scores = q @ k.mT / D**0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
    return weights @ v
