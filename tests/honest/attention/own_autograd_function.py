import torch


class Attend(torch.autograd.Function):
    """Forward and backward written out."""

    @staticmethod
    def forward(ctx, q, k, v, mask):
        scale = 1.0 / q.shape[-1] ** 0.5
        s = torch.matmul(q, k.transpose(-1, -2)) * scale
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        p = torch.softmax(s, -1)
        if mask is not None:
            p = p.masked_fill(~mask, 0)
        ctx.save_for_backward(q, k, v, p)
        ctx.scale = scale
        return torch.matmul(p, v)

    @staticmethod
    def backward(ctx, grad):
        q, k, v, p = ctx.saved_tensors
        grad_v = p.mT @ grad
        grad_p = grad @ v.mT
        grad_s = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * ctx.scale
        return grad_s @ k, grad_s.mT @ q, grad_v, None


def attention(q, k, v, mask=None):
    return Attend.apply(q, k, v, mask)
