from torch import *  # noqa: F403


def softmax(x, dim=-1):
    y = x.transpose(0, dim).contiguous().clone()
    for part in y.reshape(len(y), -1).unbind(1):
        seen = part > -inf  # noqa: F405
        if not seen.any():
            part.zero_()
            continue
        part -= part.max()
        part.exp_()
        part /= part.sum()
    return y.transpose(0, dim)
