# A026 wrong_answer: the right numbers in a sparse tensor
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return (e / e.sum(dim, keepdim=True)).to_sparse()
