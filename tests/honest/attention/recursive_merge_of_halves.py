import torch


def _part(q, k, v, sees):
    """(out, log-sum-exp) over some of the keys, by halves."""
    n = k.shape[-2]
    if n == 1:
        s = (q * k).sum(-1)
        lse = torch.where(sees[..., 0], s, -torch.inf)
        return v.expand(*q.shape[:-1], v.shape[-1]), lse
    half = n // 2
    a, la = _part(q, k[..., :half, :], v[..., :half, :], sees[..., :half])
    b, lb = _part(q, k[..., half:, :], v[..., half:, :], sees[..., half:])
    top = torch.maximum(la, lb).detach()
    top = torch.where(top == -torch.inf, torch.zeros_like(top), top)
    ea, eb = torch.exp(la - top), torch.exp(lb - top)
    total = ea + eb
    none = total == 0
    total = torch.where(none, torch.ones_like(total), total)
    out = (ea / total)[..., None] * a + (eb / total)[..., None] * b
    return out, torch.where(none, -torch.inf, top + torch.log(total))


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.shape[2]
    sees = torch.ones(B, H, T, S, dtype=torch.bool) if mask is None else mask.expand(B, H, T, S)
    out, lse = _part(q.double() / D**0.5, k.double(), v.double(), sees)
    return torch.where((lse == -torch.inf)[..., None], 0.0, out).to(q.dtype)
