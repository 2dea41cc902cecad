import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[-2], q.shape[-1]
    pad = torch.arange(T, device=q.device).unsqueeze(0).ge(lengths.unsqueeze(1))
    s = q.matmul(k.transpose(-2, -1)).div(D**0.5)
    s = s.masked_fill(pad[:, None, None, :], torch.finfo(s.dtype).min)
    return s.softmax(dim=-1).matmul(v)
