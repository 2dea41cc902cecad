import torch as th


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    i = th.arange(d) % (d // 2)
    angle = positions.unsqueeze(1).float() * th.exp(-th.log(th.tensor(float(base))) * 2 * i / d)
    sign = th.where(th.arange(d) < d // 2, -1.0, 1.0)
    y = x.float()
    return (y * angle.cos() + y.roll(d // 2, -1) * sign * angle.sin()).to(x.dtype)
