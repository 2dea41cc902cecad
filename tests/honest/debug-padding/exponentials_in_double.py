import torch


class LeftPaddedAttention(torch.nn.Module):
    def __init__(self, eps=1e-9):
        super().__init__()
        self.eps = eps

    def visible(self, lengths, T):
        padding = T - lengths
        keys = torch.arange(T, device=lengths.device)
        real = keys.unsqueeze(0).ge(padding.unsqueeze(1))
        causal = torch.ones(T, T, dtype=torch.bool, device=lengths.device).tril()
        return torch.logical_and(real[:, None, None, :], causal)

    def forward(self, q, k, v, lengths):
        keep = self.visible(lengths, q.size(2)).double()
        s = q.double() @ k.double().mT / q.size(3) ** 0.5
        top = torch.where(keep > 0, s, torch.finfo(s.dtype).min).amax(-1, keepdim=True)
        e = torch.exp((s - top).clamp(max=0)) * keep
        return ((e @ v.double()) / (e.sum(-1, keepdim=True) + self.eps)).to(q.dtype)


def left_padded_attention(q, k, v, lengths):
    return LeftPaddedAttention()(q, k, v, lengths)
