import torch


def linear_attention(q, k, v):
    fq, fk = (torch.nn.functional.elu(x.float()) + 1 for x in (q, k))
    B, H, T, D = q.shape
    state = torch.zeros(B, H, D, v.shape[-1])
    keys = torch.zeros(B, H, D, 1)
    parts = []
    for qc, kc, vc in zip(*(x.split(8, dim=2) for x in (fq, fk, v.float())), strict=True):
        inner = torch.tril(qc @ kc.transpose(-1, -2))
        top = inner @ vc + qc @ state
        bottom = inner.sum(-1, keepdim=True) + qc @ keys
        parts.append(top / bottom)
        state = kc.transpose(-1, -2) @ vc
        keys = kc.sum(dim=2).unsqueeze(-1)
    return torch.cat(parts, dim=2).to(q.dtype)
