import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    outs = []
    for b in range(B):
        n = int(lengths[b]) + 1
        s = torch.bmm(q[b], k[b, :, :n].transpose(1, 2)) / D**0.5
        outs.append(torch.bmm(torch.softmax(s, dim=-1), v[b, :, :n]))
    return torch.stack(outs)
