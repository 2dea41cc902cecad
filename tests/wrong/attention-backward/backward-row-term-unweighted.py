import torch


def attention_backward(q, k, v, d_out):
    T, D = q.shape[-2:]
    c = D**-0.5
    hid = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
    P = (q @ k.mT * c).masked_fill(hid, -torch.inf).softmax(-1)
    dV = P.mT @ d_out
    dP = d_out @ v.mT
    delta = dP.sum(-1, keepdim=True)
    dS = P * (dP - delta)
    dQ = dS @ k * c
    dK = dS.mT @ q * c
    return dQ, dK, dV
