import torch as th


class Running:
    def __init__(self, shape):
        self.m = th.full(shape, th.finfo(th.float32).min)
        self.l = th.zeros(shape)

    def see(self, block):
        top = th.max(self.m, block.amax(dim=-1))
        self.l.mul_(self.m.sub_(top).exp_())
        self.l.add_(block.sub(top.unsqueeze(-1)).exp_().sum(dim=-1))
        self.m = top


def online_softmax(x, block_size):
    state = Running(x.shape[:-1])
    for start in range(0, x.size(-1), block_size):
        n = min(block_size, x.size(-1) - start)
        state.see(x.narrow(-1, start, n).float())
    return state.m.type_as(x), state.l.type_as(x)
