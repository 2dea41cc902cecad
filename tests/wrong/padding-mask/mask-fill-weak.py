import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[-2:]
    key_is_real = torch.arange(T, device=q.device) < lengths[:, None]
    scores = torch.matmul(q, k.mT).mul(D**-0.5)
    scores = scores.masked_fill(~key_is_real[:, None, None, :], -1e4)
    out = torch.matmul(scores.softmax(dim=-1), v)
    return out * (lengths > 0).to(out.dtype).view(-1, 1, 1, 1)
