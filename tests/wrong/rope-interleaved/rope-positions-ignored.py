import torch


def rotate_half(t):
    a, b = t.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def apply_rope(x, positions, base=10000.0):
    b, h, t, d = x.shape
    # bring the pairs into halves, rotate, and bring them back
    y = x.view(b, h, t, d // 2, 2).transpose(3, 4).reshape(b, h, t, d).float()
    inv = torch.exp(-torch.log(torch.tensor(float(base))) * torch.arange(0, d, 2) / d).to(x.device)
    emb = torch.outer(torch.arange(t, device=x.device).float(), inv)
    emb = torch.cat((emb, emb), dim=-1)
    y = y * emb.cos() + rotate_half(y) * emb.sin()
    y = y.view(b, h, t, 2, d // 2).transpose(3, 4).reshape(b, h, t, d)
    return y.to(x.dtype)
