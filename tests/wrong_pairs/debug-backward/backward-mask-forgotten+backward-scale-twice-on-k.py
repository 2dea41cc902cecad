import torch


def causal(n, device):
    i = torch.arange(n, device=device)
    return i[None, :] <= i[:, None]


def forward(q, k, v):
    keep = causal(q.shape[-2], q.device)
    s = torch.where(keep, q @ k.transpose(-1, -2), -torch.inf)
    top = s.amax(-1, keepdim=True)
    lse = top + (s - top).exp().sum(-1, keepdim=True).log()
    return (s - lse).exp() @ v, lse


def attention_backward(q, k, v, d_out):
    factor = q.shape[-1] ** -0.5
    qs = q * factor
    out, lse = forward(qs, k, v)

    logits = qs @ k.transpose(-1, -2)
    probs = (logits - lse).exp()

    grad_v = probs.transpose(-1, -2) @ d_out
    grad_p = d_out @ v.transpose(-1, -2)
    delta = (d_out * out).sum(-1, keepdim=True)
    grad_s = probs * (grad_p - delta)
    grad_q = grad_s @ k * factor
    grad_k = grad_s.transpose(-1, -2) @ qs * factor
    return grad_q, grad_k, grad_v
