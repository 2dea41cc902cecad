import torch


def online_softmax(x, block_size):
    running_max = torch.full(x.shape[:-1], -torch.inf, device=x.device)
    running_sum = torch.zeros(x.shape[:-1], device=x.device)
    for chunk in x.float().split(block_size, -1):
        running_max = torch.maximum(running_max, chunk.amax(-1))
        running_sum += torch.exp(chunk - running_max.unsqueeze(-1)).sum(-1)
    return running_max.to(x.dtype), running_sum.to(x.dtype)
