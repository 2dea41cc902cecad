import torch


class RotaryEmbedding(torch.nn.Module):
    def __init__(self, width, base):
        super().__init__()
        inverse = 1.0 / (base ** (torch.arange(0, width, 2, dtype=torch.float64) / width))
        self.register_buffer("inverse", inverse)

    def forward(self, positions):
        angles = positions.to(torch.float64)[:, None] * self.inverse[None, :]
        table = torch.cat((angles, angles), dim=-1)
        return table.cos()[None, :, None, :], table.sin()[None, :, None, :]


def rotate_half(x):
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-second, first), dim=-1)


def apply_rope(x, cos, sin):
    return (x.double() * cos + rotate_half(x.double()) * sin).to(x.dtype)


def repeat_kv(x, times):
    """(B, T, H_kv, D) -> (B, T, H_kv * times, D)"""
    B, T, N, D = x.shape
    return x[:, :, :, None, :].expand(B, T, N, times, D).reshape(B, T, N * times, D)


def rope_gqa(q, k, v, positions, base=10000.0):
    B, T, H, D = q.shape
    cos, sin = RotaryEmbedding(D, base)(torch.arange(T, device=q.device))
    q = apply_rope(q, cos, sin)
    k = apply_rope(k, cos, sin)
    times = H // k.shape[2]
    k, v = repeat_kv(k, times), repeat_kv(v, times)
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    scores = q @ k.transpose(2, 3) / D**0.5
    mask = torch.full((T, T), float("-inf"), device=q.device, dtype=q.dtype).triu(1)
    weights = (scores + mask).softmax(dim=-1)
    return (weights @ v).transpose(1, 2)
