import torch as th


def causal_mask(t, s):
    ends = th.arange(s - t + 1, s + 1).unsqueeze(1)
    marks = th.zeros(t, s + 1, dtype=th.int8).scatter_(1, ends, 1)
    return marks.cumsum(1)[:, :s].eq(0)
