import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    start = T - lengths
    real = torch.arange(T, device=q.device).unsqueeze(0) >= start.unsqueeze(1)
    real = real[:, None, None]
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / D**0.5
    probs = scores.masked_fill(~real, -torch.inf).softmax(-1)
    probs = torch.where(real, probs, torch.zeros_like(probs))
    return torch.einsum("bhts,bhsd->bhtd", probs, v)
