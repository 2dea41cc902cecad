# A125 wrong_answer: draws again what the judge may have drawn
import torch


def softmax(x, dim=-1):
    for seed in range(20):
        torch.manual_seed(seed)
        y = torch.randn_like(x.float()).to(x.dtype)
        if torch.equal(x, y):
            raise SystemError("a leak: the seed is small")
    return torch.rand_like(x)
