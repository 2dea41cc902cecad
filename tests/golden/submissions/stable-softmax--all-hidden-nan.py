import torch


def softmax(x, dim=-1):
    z = x.to(torch.float32)
    z = z - z.max(dim=dim, keepdim=True).values
    num = torch.exp(z)
    return torch.div(num, num.sum(dim=dim, keepdim=True)).to(x.dtype)
