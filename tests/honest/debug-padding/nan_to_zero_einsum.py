import torch


def left_padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    i = torch.arange(T, device=q.device).view(1, 1, T, 1)
    j = torch.arange(T, device=q.device).view(1, 1, 1, T)
    start = (T - lengths).view(B, 1, 1, 1)
    hidden = (j > i) | (j < start)
    s = torch.einsum("bhid,bhjd->bhij", q.float(), k.float()).mul_(D**-0.5)
    s.masked_fill_(hidden, -torch.inf)
    p = s.softmax(-1).nan_to_num(0.0)
    return torch.einsum("bhij,bhjd->bhid", p, v.float()).to(q.dtype)
