import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    last = (lengths - 1).clamp(min=1)
    keep = torch.arange(T, device=q.device) < last[:, None]
    scores = torch.einsum("bhtd,bhsd->bhts", q.float(), k.float()) / D**0.5
    scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
    out = torch.einsum("bhts,bhsd->bhtd", scores.softmax(-1), v.float())
    return (out * (lengths > 0)[:, None, None, None]).to(q.dtype)
