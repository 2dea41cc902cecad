import torch


def mqa(q, k, v):
    b, h, t, d = q.shape
    s = k.shape[2]
    x = q.transpose(1, 2).reshape(b, t * h, d)
    att = x @ k[:, 0].transpose(1, 2)
    att = att.view(b, t, h, s) / d**0.5
    pos = torch.arange(s, device=q.device)
    future = pos.view(1, 1, s) > pos[s - t :].view(t, 1, 1)
    att = att.masked_fill(future, 0.0).softmax(dim=-1)
    y = att.view(b, t * h, s) @ v[:, 0]
    return y.view(b, t, h, d).transpose(1, 2)
