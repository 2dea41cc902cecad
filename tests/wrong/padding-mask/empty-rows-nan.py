import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    bias = torch.zeros(B, 1, 1, T, dtype=q.dtype, device=q.device)
    for b in range(B):
        bias[b, ..., int(lengths[b]) :] = float("-inf")
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5 + bias
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)
