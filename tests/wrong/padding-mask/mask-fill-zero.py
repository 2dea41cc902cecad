import torch


def padded_attention(q, k, v, lengths):
    T = k.shape[2]
    hidden = torch.arange(T, device=q.device)[None, None, None] >= lengths[:, None, None, None]
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(hidden, 0.0)
    out = torch.einsum("bhij,bhjd->bhid", torch.softmax(scores, dim=-1), v)
    return out.masked_fill((lengths == 0)[:, None, None, None], 0.0)
