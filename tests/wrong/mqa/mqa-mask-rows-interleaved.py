import torch


def mqa(q, k, v):
    """All heads read the same K and V, so fold them into the rows and do one matmul."""
    B, H, T, D = q.shape
    S = k.shape[2]
    folded = q.reshape(B, H * T, D)
    keys = k.reshape(B, S, D)
    values = v.reshape(B, S, D)

    hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
    hidden = hidden.repeat_interleave(H, dim=0)

    scores = torch.bmm(folded, keys.transpose(1, 2)) / D**0.5
    scores = scores.masked_fill(hidden, -torch.inf)
    out = torch.bmm(scores.softmax(-1), values)
    return out.view(B, H, T, D)
