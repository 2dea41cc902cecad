import torch


def padded_attention(q, k, v, lengths):
    D = q.shape[-1]
    weights = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5, dim=-1)
    return torch.einsum("bhij,bhjd->bhid", weights, v)
