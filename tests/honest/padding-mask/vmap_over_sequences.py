import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[-2:]

    def sequence(q, k, v, n):
        s = torch.einsum("htd,hsd->hts", q, k) / D**0.5
        seen = torch.arange(T) < n
        s = torch.where(seen, s, -torch.inf)
        s = torch.where(n > 0, s, torch.zeros_like(s))
        return torch.where(seen, s.softmax(-1), 0.0).to(v.dtype) @ v

    return torch.vmap(sequence)(q, k, v, lengths)
