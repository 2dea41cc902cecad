import torch


@torch.no_grad()
def attention_backward(q, k, v, d_out):
    B, H, T, D = q.shape
    Q, K, V, G = (a.reshape(B * H, T, D).to(torch.float64) for a in (q, k, v, d_out))
    bias = torch.zeros(T, T, dtype=torch.float64, device=q.device)
    bias.masked_fill_(torch.ones_like(bias).tril_().eq_(0).bool(), -float("inf"))
    P = torch.baddbmm(bias.expand(B * H, T, T), Q, K.transpose(1, 2), alpha=D**-0.5)
    P.sub_(P.amax(2, keepdim=True)).exp_().div_(P.sum(2, keepdim=True))
    dV = torch.bmm(P.transpose(1, 2), G)
    dS = torch.bmm(G, V.transpose(1, 2))
    dS.sub_((dS * P).sum(2, keepdim=True)).mul_(P).mul_(D**-0.5)
    dQ = torch.bmm(dS, K)
    dK = torch.bmm(dS.transpose(1, 2), Q)
    return [g.view(B, H, T, D).to(q.dtype) for g in (dQ, dK, dV)]
