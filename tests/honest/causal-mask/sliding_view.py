import torch


def causal_mask(t, s):
    """Each row is the row below it, moved by one: windows over one line of s + t cells."""
    line = torch.cat([torch.ones(s, dtype=torch.bool), torch.zeros(t, dtype=torch.bool)])
    return line.unfold(0, s, 1)[:t].flip(0)
