import torch


def apply_rope(x, positions, base=10000.0):
    """Turn each (even, odd) pair of features by a 2x2 rotation matrix."""
    B, H, T, D = x.shape
    n = D // 2
    k = torch.arange(n, device=x.device, dtype=torch.float64)
    freq = torch.pow(torch.tensor(base, dtype=torch.float64, device=x.device), -k / D)
    ang = positions.double().view(T, 1) * freq.view(1, n)
    c, s = torch.cos(ang), torch.sin(ang)
    R = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    pairs = x.double().view(B, H, T, n, 2)
    out = torch.einsum("tnij,bhtnj->bhtni", R, pairs)
    return out.reshape(B, H, T, D).to(x.dtype)
