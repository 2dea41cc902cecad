import torch


def flash_attention(q, k, v, block_size, causal=False):
    """First pass: the log-sum-exp of each row. Second pass: the scores again, and the mix."""
    T, S, D = q.shape[2], k.shape[2], q.shape[3]
    qf = q.to(torch.float32)

    def tiles():
        for j in range(0, S, block_size):
            kj = k[:, :, j : j + block_size].to(torch.float32)
            s = torch.matmul(qf, kj.transpose(-2, -1)) * (1.0 / D) ** 0.5
            if causal:
                bias = torch.full((T, kj.shape[2]), -torch.inf).triu(S - T - j + 1)
                s = s + bias
            yield s, v[:, :, j : j + block_size].to(torch.float32)

    lse = torch.full(q.shape[:3], -torch.inf)
    for s, _ in tiles():
        lse = torch.logaddexp(lse, s.logsumexp(-1))
    out = torch.zeros(q.shape)
    weight = torch.zeros(q.shape[:3])
    for s, vj in tiles():
        p = torch.exp(s - lse[..., None])
        out += p @ vj
        weight += p.sum(-1)  # 1, up to the rounding of lse
    return (out / weight[..., None]).to(q.dtype)
