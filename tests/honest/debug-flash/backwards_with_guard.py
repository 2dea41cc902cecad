"""The blocks from the last to the first: a row may see nothing until late."""
import torch


class Running:
    def __init__(self, q):
        self.top = q.new_full(q.shape[:-1], -torch.inf)
        self.norm = q.new_zeros(q.shape[:-1])
        self.mix = torch.zeros_like(q)

    def add(self, s, v):
        top = torch.max(self.top, s.max(-1).values)
        safe = top.masked_fill(top == -torch.inf, 0)
        keep = (self.top - safe).exp()
        e = (s - safe[..., None]).exp()
        self.norm = self.norm * keep + e.sum(-1)
        self.mix = self.mix * keep[..., None] + e @ v
        self.top = top


def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[-2], k.shape[-2]
    scale = q.shape[-1] ** -0.5
    state = Running(q)
    position = torch.arange(S - T, S, device=q.device)
    for start in reversed(range(0, S, block_size)):
        kb = k.narrow(-2, start, min(block_size, S - start))
        vb = v.narrow(-2, start, min(block_size, S - start))
        s = (q @ kb.transpose(-1, -2)) * scale
        if causal:
            keys = start + torch.arange(kb.shape[-2], device=q.device)
            s = torch.where(keys <= position[:, None], s, -torch.inf)
        state.add(s, vb)
    return state.mix / state.norm[..., None]
