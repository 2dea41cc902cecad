import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    steps = (positions - positions[0]).double()
    freq = base ** (-torch.arange(0, D, 2, device=x.device).double() / D)
    angle = steps[:, None] * freq[None, :]
    c, s = angle.cos(), angle.sin()
    eye = torch.eye(D // 2, dtype=torch.float64, device=x.device)
    R = torch.cat(
        (torch.cat((c[:, :, None] * eye, -s[:, :, None] * eye), 2),
         torch.cat((s[:, :, None] * eye, c[:, :, None] * eye), 2)), 1,
    )
    return torch.einsum("tij,bhtj->bhti", R, x.double()).to(x.dtype)
