import torch


def _mix(q, k, v, n):
    """Unnormalised (top, total, mix) of one head over n keys; n is at least 1."""
    if n == 1:
        return (q @ k[0])[:, None], torch.ones(len(q), 1, dtype=q.dtype), v[:1].expand(len(q), -1)
    half = (n + 1) // 2
    m1, l1, o1 = _mix(q, k[:half], v[:half], half)
    m2, l2, o2 = _mix(q, k[half:], v[half:], n - half)
    m = torch.maximum(m1, m2).detach()
    a, b = torch.exp(m1 - m), torch.exp(m2 - m)
    return m, a * l1 + b * l2, a * o1 + b * o2


def padded_attention(q, k, v, lengths):
    out = []
    for b, n in enumerate(lengths.tolist()):
        for h in range(q.shape[1]):
            Q, K, V = q[b, h].double() / q.shape[-1] ** 0.5, k[b, h].double(), v[b, h].double()
            if n == 0:
                out.append(torch.zeros_like(Q))
                continue
            _, total, mix = _mix(Q, K[:n], V[:n], n)
            out.append(mix / total)
    return torch.stack(out).reshape(q.shape).to(q.dtype)
