import torch


def padded_attention(q, k, v, lengths):
    out = []
    for b, n in enumerate(lengths.tolist()):
        scores = q[b] @ k[b].mT * q.shape[-1] ** -0.5
        if 0 < n < k.shape[2]:
            scores[..., n:] = float("-inf")
        out.append(scores.softmax(dim=-1) @ v[b])
    return torch.stack(out)
