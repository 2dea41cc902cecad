import torch


def softmax(x, dim=-1):
    """p_i = 1 / sum_j exp(x_j - x_i)."""
    y = x.movedim(dim, -1).double()
    gap = y.unsqueeze(-2) - y.unsqueeze(-1)  # gap[..., i, j] = y_j - y_i
    gap = torch.where(torch.isneginf(y).unsqueeze(-1), torch.inf, gap)
    return (1 / gap.exp().sum(-1)).movedim(-1, dim).to(x.dtype)
