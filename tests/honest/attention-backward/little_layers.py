"""A layer is an object with forward() and backward(); attention is four of them in a row."""
import torch


class MatMul:
    def forward(self, a, b):
        self.a, self.b = a, b
        return a @ b

    def backward(self, d):
        return d @ self.b.transpose(-2, -1), self.a.transpose(-2, -1) @ d


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def forward(self, a):
        return a * self.factor

    def backward(self, d):
        return d * self.factor


class CausalMask:
    def forward(self, a):
        n = a.shape[-1]
        self.seen = torch.ones(n, n, device=a.device).tril() == 1
        return torch.where(self.seen, a, torch.full_like(a, -float("inf")))

    def backward(self, d):
        return torch.where(self.seen, d, torch.zeros_like(d))


class Softmax:
    def forward(self, a):
        e = torch.exp(a - a.max(dim=-1, keepdim=True)[0])
        self.p = e / e.sum(dim=-1, keepdim=True)
        return self.p

    def backward(self, d):
        return self.p * d - self.p * (self.p * d).sum(dim=-1, keepdim=True)


def attention_backward(q, k, v, d_out):
    scores, scale, mask, softmax, mix = MatMul(), Scale(q.shape[-1] ** -0.5), CausalMask(), Softmax(), MatMul()

    # forward, remembering
    s = scores.forward(q, k.transpose(-2, -1))
    p = softmax.forward(mask.forward(scale.forward(s)))
    mix.forward(p, v)

    # backward, in the opposite order
    d_p, d_v = mix.backward(d_out)
    d_s = scale.backward(mask.backward(softmax.backward(d_p)))
    d_q, d_kt = scores.backward(d_s)
    return d_q, d_kt.transpose(-2, -1), d_v
