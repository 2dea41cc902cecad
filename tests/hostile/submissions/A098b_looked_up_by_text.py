# A098 forbidden: a name put together at run time
# says: rules out
import torch


def softmax(x, dim=-1):
    return getattr(torch, "soft" + "max")(x, dim)
