import torch


def attention(q, k, v, mask=None):
    scores = torch.matmul(q, torch.transpose(k, 2, 3)) / torch.tensor(q.shape[-1]).sqrt().item()
    if mask is None:
        return torch.softmax(scores, dim=3) @ v
    hidden = torch.logical_not(mask)
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=3)
    return weights.masked_fill(hidden.all(-1, keepdim=True), 0.0) @ v
