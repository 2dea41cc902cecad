import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    hidden = torch.arange(T)[None, :] >= lengths[:, None]
    e = torch.einsum("bhid,bhjd->hijb", q.float(), k.float()) * D**-0.5
    e = e.masked_fill(hidden.T[None, None], -1e30)
    w = torch.softmax(e, dim=-1)
    w = w * (~hidden).T[None, None]
    return torch.einsum("hijb,bhjd->bhid", w, v.float()).to(q.dtype)
