import torch


@torch.no_grad()
def fused_attention(q, k, v, causal):
    """A strip of T x 16 scores at a time, for all heads; accumulators are updated in place."""
    B, H, T, D = q.shape
    G, S = k.shape[1], k.shape[2]
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    queries = q.reshape(B, G, H // G, T, D).to(wide).mul(D**-0.5)
    o = torch.zeros_like(queries)
    m = torch.full(queries.shape[:-1] + (1,), float("-inf"), dtype=wide, device=q.device)
    l = torch.zeros_like(m)
    position = torch.arange(S - T, S, device=q.device).view(T, 1)
    for start in range(0, S, 16):
        kj = k[:, :, None, start : start + 16].to(wide)
        vj = v[:, :, None, start : start + 16].to(wide)
        s = queries @ kj.transpose(-1, -2)
        if causal:
            columns = torch.arange(start, start + kj.shape[-2], device=q.device)
            s.masked_fill_(columns > position, float("-inf"))
        old = m.clone()
        torch.maximum(m, s.amax(-1, keepdim=True), out=m)
        s.sub_(m).exp_()
        old.sub_(m).exp_()
        l.mul_(old).add_(s.sum(-1, keepdim=True))
        o.mul_(old).add_(s.to(torch.bfloat16).to(wide) @ vj)
    return o.div_(l).reshape(B, H, T, D).to(q.dtype)
