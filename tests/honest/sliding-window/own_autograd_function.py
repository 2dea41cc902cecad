import torch


class Window(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, window):
        T, D = q.shape[-2:]
        s = torch.matmul(q, k.transpose(-1, -2)).mul_(D**-0.5)
        outside = torch.ones(T, T, dtype=torch.bool).triu(1)
        outside |= torch.ones(T, T, dtype=torch.bool).tril(-window)
        s.masked_fill_(outside, -float("inf"))
        s.sub_(s.amax(-1, keepdim=True)).exp_()
        s.div_(s.sum(-1, keepdim=True))
        ctx.save_for_backward(q, k, v, s)
        return s @ v

    @staticmethod
    def backward(ctx, grad):
        q, k, v, p = ctx.saved_tensors
        grad_p = grad @ v.mT
        grad_s = p * (grad_p - (grad * (p @ v)).sum(-1, keepdim=True))
        grad_s = grad_s * q.shape[-1] ** -0.5
        return grad_s @ k, grad_s.mT @ q, p.mT @ grad, None


def sliding_window_attention(q, k, v, window):
    if q.dtype == torch.bfloat16:
        return Window.apply(q.float(), k.float(), v.float(), window).bfloat16()
    return Window.apply(q, k, v, window)
