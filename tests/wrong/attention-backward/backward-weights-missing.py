import math

import torch


def one_head(Q, K, V, dO):
    T, D = Q.shape
    scale = 1.0 / math.sqrt(D)
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=Q.device))
    S = (Q @ K.T) * scale
    S = torch.where(causal, S, torch.full_like(S, -math.inf))
    S = S - S.max(dim=1, keepdim=True).values
    E = torch.exp(S)
    P = E / E.sum(dim=1, keepdim=True)
    O = P @ V

    dV = P.T @ dO
    dP = dO @ V.T
    delta = (dO * O).sum(dim=1, keepdim=True)
    dS = (dP - delta) * causal
    dQ = dS @ K * scale
    dK = dS.T @ Q * scale
    return dQ, dK, dV


def attention_backward(q, k, v, d_out):
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            args = [t[b, h].float() for t in (q, k, v, d_out)]
            dQ, dK, dV = one_head(*args)
            d_q[b, h], d_k[b, h], d_v[b, h] = dQ.to(q.dtype), dK.to(q.dtype), dV.to(q.dtype)
    return d_q, d_k, d_v
