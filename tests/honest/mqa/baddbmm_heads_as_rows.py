import torch


def mqa(q, k, v):
    """Fold the heads into the rows: one (H T, D) by (D, S) product a batch entry."""
    B, H, T, D = q.shape
    S = k.shape[2]
    bias = torch.full((T, S), -torch.inf, dtype=q.dtype, device=q.device).triu(S - T + 1)
    bias = bias.repeat(H, 1).expand(B, H * T, S)
    scores = torch.baddbmm(bias, q.reshape(B, H * T, D), k[:, 0].transpose(1, 2), alpha=D**-0.5)
    return torch.bmm(scores.softmax(-1), v[:, 0]).view(B, H, T, D)
