import math

import torch as th


def softmax(x, dim=-1):
    z = x.double().mul(math.log2(math.e))
    z = z.sub(z.amax(dim, keepdim=True).clamp(min=-1e30))
    p = th.exp2(z)
    return p.div(p.sum(dim, keepdim=True).clamp(min=1e-30)).type_as(x)
