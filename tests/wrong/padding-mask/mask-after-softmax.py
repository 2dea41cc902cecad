import torch


def padded_attention(q, k, v, lengths):
    outs = []
    T, D = q.shape[-2:]
    for b, n in enumerate(lengths.tolist()):
        w = torch.softmax(q[b] @ k[b].mT / D**0.5, dim=-1)
        outs.append(w[..., :n] @ v[b, :, :n])
    return torch.stack(outs, dim=0)
