import torch


class CausalAttention:
    def __init__(self, q, k, v):
        self.q, self.k, self.v = q, k, v
        self.scale = q.size(-1) ** -0.5
        t = q.size(-2)
        idx = torch.arange(t, device=q.device)
        self.visible = idx[None, :] <= idx[:, None]
        self.probs = self.forward()

    def forward(self):
        scores = self.q @ self.k.transpose(-1, -2) * self.scale
        scores = scores + torch.zeros_like(scores).masked_fill(~self.visible, -torch.inf)
        return scores.softmax(dim=-1)

    def softmax_backward(self, grad):
        inner = (grad * self.probs).sum(dim=-2, keepdim=True)
        return self.probs * (grad - inner)

    def backward(self, grad_out):
        grad_v = self.probs.transpose(-1, -2) @ grad_out
        grad_probs = grad_out @ self.v.transpose(-1, -2)
        grad_scores = self.softmax_backward(grad_probs) * self.scale
        grad_q = grad_scores @ self.k
        grad_k = grad_scores.transpose(-1, -2) @ self.q
        return grad_q, grad_k, grad_v


def attention_backward(q, k, v, d_out):
    layer = CausalAttention(q.float(), k.float(), v.float())
    return tuple(g.to(q.dtype) for g in layer.backward(d_out.float()))
