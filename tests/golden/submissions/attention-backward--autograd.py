import torch


def attention_backward(q, k, v, d_out):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    t = q.shape[-2]
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v
    return torch.autograd.grad(out, (q, k, v), d_out)
