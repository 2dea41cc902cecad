import torch


def softmax(x, dim=-1):
    shape = x.shape
    rows = x.reshape(-1, shape[-1]).float()
    m, _ = rows.max(dim=1, keepdim=True)
    m = torch.nan_to_num(m, neginf=0.0)
    e = torch.exp(rows - m)
    s = e.sum(1, keepdim=True)
    s[s == 0] = 1.0
    return (e / s).reshape(shape).to(x.dtype)
