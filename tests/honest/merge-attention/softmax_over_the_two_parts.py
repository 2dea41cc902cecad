import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    lses = torch.stack([lse_a, lse_b])
    outs = torch.stack([o_a, o_b])
    weights = lses.softmax(dim=0)
    return (weights.unsqueeze(-1) * outs).sum(dim=0), lses.logsumexp(dim=0)
