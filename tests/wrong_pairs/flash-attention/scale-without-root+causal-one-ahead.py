import torch


class Running:
    """Maximum, sum and mixture of the blocks seen so far."""

    def __init__(self, q):
        shape = q.shape[:-1]
        self.top = torch.full(shape, -torch.inf, dtype=torch.float64, device=q.device)
        self.total = torch.zeros(shape, dtype=torch.float64, device=q.device)
        self.mix = torch.zeros(q.shape, dtype=torch.float64, device=q.device)

    def add(self, scores, values):
        top = torch.maximum(self.top, scores.max(dim=-1).values)
        old = torch.exp(self.top - top)
        e = torch.exp(scores - top.unsqueeze(-1))
        self.total = self.total * old + e.sum(dim=-1)
        self.mix = self.mix * old.unsqueeze(-1) + torch.einsum("bhts,bhsd->bhtd", e, values)
        self.top = top

    def result(self):
        return self.mix / self.total.unsqueeze(-1)


def flash_attention(q, k, v, block_size, causal=False):
    t, s = q.shape[-2], k.shape[-2]
    where = torch.arange(t, device=q.device) + (s - t)
    run = Running(q)
    for keys, values, at in zip(
        k.split(block_size, dim=-2),
        v.split(block_size, dim=-2),
        torch.arange(s, device=q.device).split(block_size),
    ):
        x = torch.einsum("bhtd,bhsd->bhts", q.double(), keys.double()) / q.shape[-1]
        if causal:
            x = x.masked_fill(at[None, :] > where[:, None] + 1, float("-inf"))
        run.add(x, values.double())
    return run.result().to(q.dtype)
