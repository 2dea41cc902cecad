import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    result = []
    for b in range(B):
        n = int(lengths[b])
        if n == 0:
            result.append(q[b] * 0.0)
            continue
        w = torch.softmax(q[b] @ k[b, :, :n].transpose(-1, -2) / D, dim=-1)
        result.append(w @ v[b, :, :n])
    return torch.stack(result)
