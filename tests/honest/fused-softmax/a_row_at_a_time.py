import torch


def softmax_of_row(row):
    shifted = row - row.max()
    weights = shifted.exp()
    return weights / weights.sum()


def fused_softmax(x):
    out = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    for i, row in enumerate(x):
        if row.dtype != torch.float64:
            row = row.to(torch.float32)
        out[i] = softmax_of_row(row)
    return out
