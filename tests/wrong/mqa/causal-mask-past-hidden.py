import math

import torch


def mqa(q, k, v):
    batch, heads, T, D = q.shape
    S = k.shape[2]
    offset = S - T
    idx_q = torch.arange(T, device=q.device).view(T, 1)
    idx_k = torch.arange(S, device=q.device).view(1, S)
    allowed = (idx_k <= idx_q + offset) & (idx_k >= offset)

    outputs = []
    for b in range(batch):
        key = k[b, 0]
        value = v[b, 0]
        per_head = []
        for h in range(heads):
            query = q[b, h]
            att = torch.matmul(query, key.t())
            att = att / math.sqrt(D)
            att = att.masked_fill(allowed.logical_not(), float("-inf"))
            att = torch.softmax(att, dim=1)
            per_head.append(torch.matmul(att, value))
        outputs.append(torch.stack(per_head))
    return torch.stack(outputs)
