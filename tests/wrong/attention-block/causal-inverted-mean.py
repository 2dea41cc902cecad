import torch


def turn(x, positions, base):
    """x: (B, n, T, D); element i is the real part and element i + D/2 the imaginary part."""
    half = x.shape[-1] // 2
    xf = x.float()
    z = torch.complex(xf[..., :half].contiguous(), xf[..., half:].contiguous())
    freq = base ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    theta = torch.outer(positions.float(), freq)
    z = z * torch.polar(torch.ones_like(theta), theta)
    return torch.cat((z.real, z.imag), dim=-1).to(x.dtype)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    def split(t, n):
        return t.unflatten(-1, (n, -1)).transpose(1, 2)

    q = turn(split(x @ w_q.T, n_heads), positions, base)
    k = turn(split(x @ w_k.T, n_kv_heads), positions, base)
    v = split(x @ w_v.T, n_kv_heads)

    which = torch.arange(n_heads, device=x.device) // (n_heads // n_kv_heads)
    k, v = k[:, which], v[:, which]

    scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.size(-1) ** 0.5
    visible = torch.ones_like(scores, dtype=torch.bool).tril()
    scores = scores.masked_fill(visible, torch.finfo(scores.dtype).min)
    mixed = torch.einsum("bhij,bhjd->bihd", scores.softmax(dim=-1), v)
    return mixed.flatten(-2) @ w_o.T
