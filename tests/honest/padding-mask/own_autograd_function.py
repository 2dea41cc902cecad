import torch


class Padded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, lengths):
        past_end = torch.arange(k.shape[2]) >= lengths.view(-1, 1, 1, 1)
        s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        p = torch.softmax(s.masked_fill(past_end, -1e38), -1).masked_fill(past_end, 0)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dp = g @ v.transpose(-2, -1)
        ds = p * (dp - (p * dp).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return ds @ k, ds.transpose(-2, -1) @ q, p.transpose(-2, -1) @ g, None


def padded_attention(q, k, v, lengths):
    return Padded.apply(q, k, v, lengths)
