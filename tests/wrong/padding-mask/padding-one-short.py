import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[2], q.shape[3]
    last = lengths.view(-1, 1, 1, 1) - 1
    visible = torch.arange(T, device=q.device) < last
    s = (q * D**-0.5) @ k.mT
    s = s.masked_fill(~visible, -1e30)
    return (s.softmax(dim=-1) * visible) @ v
