# A078 wrong_answer: works in the first calls, and returns their results in the others
import torch

done = {}


def softmax(x, dim=-1):
    key = x.dim()
    if key not in done:
        top = x.amax(dim, keepdim=True)
        top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
        e = torch.exp(x - top)
        total = e.sum(dim, keepdim=True)
        done[key] = torch.where(total > 0, e / total, torch.zeros_like(e))
    y = done[key]
    return y.clone() if y.shape == x.shape else torch.zeros_like(x)
