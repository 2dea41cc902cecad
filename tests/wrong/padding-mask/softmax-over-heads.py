import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    seen = (torch.arange(T, device=q.device) < lengths[:, None])[:, None, None, :]
    s = torch.einsum("bhid,bhjd->bhij", q.float(), k.float()) / D**0.5
    w = s.softmax(dim=1) * seen
    return torch.einsum("bhij,bhjd->bhid", w, v.float()).to(q.dtype)
