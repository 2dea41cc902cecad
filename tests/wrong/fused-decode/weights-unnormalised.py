import torch

LOG2E = 1.4426950408889634


class Decoder:
    """Walks a cache from its end, in place; powers of two."""

    def __init__(self, q, n_kv):
        self.batch, self.heads, _, self.width = q.shape
        self.dtype = q.dtype
        inner = torch.float64 if q.dtype == torch.float64 else torch.float32
        self.rows = q.to(inner).reshape(self.batch * n_kv, -1, self.width)
        self.o = torch.zeros_like(self.rows)
        self.l = self.rows.new_zeros(*self.rows.shape[:2], 1)
        self.m = self.l - torch.inf

    def step(self, keys, values, hidden):
        zero = self.rows.new_zeros(1, 1, 1)
        alpha = LOG2E * self.width**-0.5
        s = torch.baddbmm(zero, self.rows, keys.mT, beta=0, alpha=alpha)
        s.masked_fill_(hidden, -torch.inf)
        new = torch.maximum(self.m, s.amax(2, True))
        calm = new.masked_fill(new == -torch.inf, 0)
        s.sub_(calm).exp2_()
        fade = torch.exp2(self.m - calm)
        self.l.mul_(fade).add_(s.sum(2, True))
        self.o.mul_(fade).baddbmm_(s, values)
        self.m = new

    def result(self):
        return self.o.view(self.batch, self.heads, 1, self.width).to(self.dtype)


def fused_decode(q, k_cache, v_cache, lengths):
    n_kv, S = k_cache.shape[1:3]
    k, v = k_cache.flatten(0, 1), v_cache.flatten(0, 1)
    state = Decoder(q, n_kv)
    limit = lengths.repeat_interleave(n_kv)[:, None, None]
    for hi in range(S, 0, -60):
        lo = max(hi - 60, 0)
        hidden = torch.arange(lo, hi, device=q.device) >= limit
        state.step(k[:, lo:hi].to(state.rows.dtype), v[:, lo:hi].to(state.rows.dtype), hidden)
    return state.result()
