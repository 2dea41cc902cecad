import torch


class CausalCore(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        T, D = q.shape[-2:]
        s = (q @ k.mT).div_(D**0.5)
        s.masked_fill_(torch.ones(T, T, dtype=torch.bool).triu_(1), -torch.inf)
        s.sub_(s.amax(-1, keepdim=True)).exp_()
        s.div_(s.sum(-1, keepdim=True))
        out = s @ v
        ctx.save_for_backward(q, k, v, s, out)
        return out

    @staticmethod
    def backward(ctx, g):
        q, k, v, p, out = ctx.saved_tensors
        delta = (g * out).sum(-1, keepdim=True)
        ds = p * (g @ v.mT - delta) / q.shape[-1] ** 0.5
        return ds @ k, ds.mT @ q, p.mT @ g


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = ((x @ w.t()).unflatten(-1, (n_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    return CausalCore.apply(q, k, v).transpose(1, 2).flatten(-2) @ w_o.t()
