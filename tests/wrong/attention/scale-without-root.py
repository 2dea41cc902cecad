import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.shape[2]
    bias = torch.zeros(B, H, T, S, dtype=q.dtype, device=q.device)
    if mask is not None:
        bias = bias.masked_fill(~mask, torch.finfo(q.dtype).min)
    s = torch.baddbmm(
        bias.view(B * H, T, S),
        q.reshape(B * H, T, D),
        k.reshape(B * H, S, D).transpose(1, 2),
        alpha=1.0 / D,
    )
    p = torch.softmax(s, dim=-1).view(B, H, T, S)
    if mask is not None:
        p = p * mask
    return p @ v
