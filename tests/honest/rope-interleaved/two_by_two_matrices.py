import torch


def apply_rope(x, positions, base=10000.0):
    B, H, T, D = x.shape
    theta = torch.tensor([base ** (-2 * i / D) for i in range(D // 2)])
    m = positions[:, None] * theta  # int64 times float32 gives float32
    c, s = torch.cos(m), torch.sin(m)
    rotation = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    # rotation is (T, D/2, 2, 2); matmul against column vectors
    columns = x.float().reshape(B, H, T, D // 2, 2, 1)
    return (rotation @ columns).reshape(B, H, T, D).to(x.dtype)
