import torch


def softmax(x, dim=-1):
    cols = x.transpose(dim, 0)
    top = cols[0]
    for i in range(1, cols.shape[0]):
        top = torch.maximum(top, cols[i])
    top = torch.where(torch.isinf(top), 0.0, top.float())
    weights = [torch.exp(c.float() - top) for c in cols]
    return torch.stack(weights).transpose(dim, 0).to(x.dtype)
