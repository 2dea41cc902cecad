from torch import Tensor, arange, cat, cos, einsum, float32, sin


def quarter_turn(x: Tensor) -> Tensor:
    """(a, b) -> (-b, a) for each neighbouring pair."""
    left, right = x.unflatten(-1, (-1, 2)).split(1, dim=-1)
    return cat([-right, left], dim=-1).flatten(-2)


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = x.shape[-1]
    pair = arange(d) // 2  # 0 0 1 1 2 2 ...
    frequency = (1.0 / base) ** (2 * pair.to(float32) / d)
    angle = einsum("t,d->td", positions.to(float32), frequency)[None, None]
    y = x.to(float32)
    return (y * cos(angle) + quarter_turn(y) * sin(angle)).to(x.dtype)
