"""Small layers, each with its own forward and backward."""
import torch


class MatMulT:
    def forward(self, a, b):
        self.a, self.b = a, b
        return torch.bmm(a, b.transpose(1, 2))

    def backward(self, g):
        return torch.bmm(g, self.b), torch.bmm(g.transpose(1, 2), self.a)


class MatMul:
    def forward(self, a, b):
        self.a, self.b = a, b
        return torch.bmm(a, b)

    def backward(self, g):
        return torch.bmm(g, self.b.transpose(1, 2)), torch.bmm(self.a.transpose(1, 2), g)


class CausalSoftmax:
    def forward(self, s):
        n = s.shape[-1]
        keep = torch.tril(torch.ones(n, n, device=s.device, dtype=torch.bool))
        s = s.masked_fill(~keep, torch.finfo(s.dtype).min)
        e = (s - s.amax(-1, keepdim=True)).exp() * keep
        self.p = e / e.sum(-1, keepdim=True)
        return self.p

    def backward(self, g):
        pg = self.p * g
        return pg - self.p * pg.sum(-1, keepdim=True)


def attention_backward(q, k, v, d_out):
    shape = q.shape
    q, k, v, g = (t.reshape(-1, *shape[2:]) for t in (q, k, v, d_out))
    qk, sm, pv = MatMulT(), CausalSoftmax(), MatMul()
    scale = 1 / shape[-1] ** 0.5
    pv.forward(sm.forward(qk.forward(q, k) * scale), v)
    d_p, d_v = pv.backward(g)
    d_q, d_k = qk.backward(sm.backward(d_p) * scale)
    return d_q.view(shape), d_k.view(shape), d_v.view(shape)
