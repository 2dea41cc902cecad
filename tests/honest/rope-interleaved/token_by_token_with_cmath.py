import cmath

import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    done = []
    for t, p in enumerate(positions.tolist()):
        factors = [cmath.exp(1j * p * base ** (-2 * i / D)) for i in range(D // 2)]
        turn = torch.tensor(factors, dtype=torch.complex128)
        pairs = x[:, :, t].double()
        z = torch.complex(pairs[..., 0::2], pairs[..., 1::2]) * turn
        done.append(torch.stack((z.real, z.imag), -1).flatten(2))
    return torch.stack(done, dim=2).to(x.dtype)
