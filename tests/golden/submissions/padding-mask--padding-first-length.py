import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    n = lengths[0].item()
    bias = torch.zeros(T, dtype=q.dtype, device=q.device)
    bias[n:] = torch.finfo(q.dtype).min
    s = torch.baddbmm(
        bias.expand(B * H, T, T),
        q.reshape(B * H, T, D),
        k.reshape(B * H, T, D).mT,
        alpha=D**-0.5,
    )
    keep = (torch.arange(T, device=q.device) < n).to(q.dtype)
    return torch.bmm(s.softmax(-1) * keep, v.reshape(B * H, T, D)).view(B, H, T, D)
