import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.shape[2]
    if mask is None:
        mask = torch.ones(1, 1, 1, S, dtype=torch.bool)
    mask = mask.broadcast_to(B, H, T, S)
    rows = []
    for i in range(T):
        s = (k * q[:, :, i : i + 1]).sum(-1) / D**0.5  # (B, H, S)
        s = s.where(mask[:, :, i], torch.tensor(-torch.inf, dtype=s.dtype))
        m = s.max(-1, keepdim=True).values
        m = torch.where(m == -torch.inf, torch.zeros_like(m), m)
        w = (s - m).exp()
        z = w.sum(-1, keepdim=True)
        w = w / torch.where(z == 0, torch.ones_like(z), z)
        rows.append((w.unsqueeze(-1) * v).sum(2))
    return torch.stack(rows, dim=2)
