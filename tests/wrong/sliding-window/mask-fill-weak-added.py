import torch


def sliding_window_attention(q, k, v, window):
    b, h, t, d = q.shape
    pos = torch.arange(t, device=q.device)
    hidden = (pos[None] > pos[:, None]) | (pos[None] <= pos[:, None] - window)
    bias = hidden.to(q.dtype) * -10000.0
    scores = torch.baddbmm(bias, q.reshape(b * h, t, d), k.reshape(b * h, t, d).transpose(1, 2), alpha=d**-0.5)
    out = torch.bmm(scores.softmax(-1), v.reshape(b * h, t, d))
    return out.view(b, h, t, d)
