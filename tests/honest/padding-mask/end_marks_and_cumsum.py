from torch import *  # noqa: F403


def padded_attention(q, k, v, lengths):
    """A mark at each end, summed along the row, gives the mask; a null key takes the empty."""
    B, H, T, D = q.shape
    marks = zeros(B, T + 1).scatter(1, lengths[:, None], 1.0)  # noqa: F405
    hidden = marks.cumsum(1)[:, :T].bool()
    hidden = cat([zeros(B, 1).bool(), hidden], 1)[:, None, None]  # noqa: F405
    s = cat([full((B, H, T, 1), -1e32, dtype=q.dtype), q @ k.mT / sqrt(tensor(D))], -1)  # noqa: F405
    p = s.to(float32).masked_fill(hidden, -inf).softmax(-1)  # noqa: F405
    return (p[..., 1:] @ v.to(float32)).to(q.dtype)  # noqa: F405
