import math

import torch


def attention(q, k, v, mask=None):
    """Each query picks out the keys that it may see."""
    B, H, T, D = q.shape
    S = k.shape[2]
    full = None if mask is None else torch.broadcast_to(mask, (B, H, T, S))
    batches = []
    for b in range(B):
        heads = []
        for h in range(H):
            rows = []
            for t in range(T):
                seen = torch.arange(S) if full is None else full[b, h, t].nonzero().squeeze(1)
                if seen.numel() == 0:
                    rows.append(v.new_zeros(v.shape[-1]))
                    continue
                keys = torch.index_select(k[b, h], 0, seen)
                w = torch.softmax(torch.mv(keys, q[b, h, t]) / math.sqrt(D), 0)
                rows.append(w @ v[b, h].index_select(0, seen))
            heads.append(torch.stack(rows))
        batches.append(torch.stack(heads))
    return torch.stack(batches)
