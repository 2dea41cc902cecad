import torch


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = torch.tensor(float(base), dtype=torch.float32).pow(torch.arange(D // 2) * (-2.0 / D))

    def token(vectors, position):
        angle = position * freq
        a, b = vectors[..., : D // 2], vectors[..., D // 2 :]
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    return torch.vmap(token, in_dims=(2, 0), out_dims=2)(x.float(), positions).to(x.dtype)
