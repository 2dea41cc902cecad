from torch import *  # noqa: F403


def attention(q, k, v, mask=None):
    s = einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5  # noqa: F405
    if mask is not None:
        s = where(mask, s, tensor(-3e38, dtype=s.dtype))  # noqa: F405
    logs = s - logsumexp(s, -1, keepdim=True)  # noqa: F405
    p = exp(logs)  # noqa: F405
    if mask is not None:
        p = where(mask, p, zeros_like(p))  # noqa: F405
    return einsum("...ts,...sv->...tv", p, v)  # noqa: F405
