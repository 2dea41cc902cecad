import torch


class Mqa(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        scale = q.shape[-1] ** -0.5
        t, s = q.shape[2], k.shape[2]
        a = torch.einsum("bhtd,bosd->bhts", q, k) * scale
        a += torch.triu(torch.full((t, s), float("-inf"), dtype=a.dtype), s - t + 1)
        p = torch.softmax(a, -1)
        ctx.save_for_backward(q, k, v, p)
        ctx.scale = scale
        return torch.einsum("bhts,bosd->bhtd", p, v)

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dv = torch.einsum("bhts,bhtd->bsd", p, g).unsqueeze(1)
        dp = torch.einsum("bhtd,bosd->bhts", g, v)
        da = p * (dp - (dp * p).sum(-1, keepdim=True)) * ctx.scale
        dq = torch.einsum("bhts,bosd->bhtd", da, k)
        dk = torch.einsum("bhts,bhtd->bsd", da, q).unsqueeze(1)
        return dq, dk, dv


def mqa(q, k, v):
    y = Mqa.apply(q.float(), k.float(), v.float())
    return y.to(q.dtype)
