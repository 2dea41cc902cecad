# A010 memory_limit: asks for terabytes and touches none of them
import torch


def softmax(x, dim=-1):
    return torch.empty(1 << 40)[: x.numel()].view(x.shape)
