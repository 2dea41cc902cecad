import torch
import torch.nn.functional as F


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    top = x.max(dim=dim, keepdim=True).values
    top = torch.where(torch.isneginf(top), torch.zeros_like(top), top)
    return F.normalize(torch.exp(x - top), p=1.0, dim=dim)
