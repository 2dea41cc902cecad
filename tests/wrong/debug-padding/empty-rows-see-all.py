import torch


def visible(lengths, size):
    slots = torch.arange(size, device=lengths.device)
    token = slots >= (size - lengths)[:, None]
    both = token[:, None, None, :] & (slots <= slots[:, None])
    return both | ~both.any(dim=-1, keepdim=True)


def left_padded_attention(q, k, v, lengths):
    T, D = q.shape[-2:]
    logits = torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5
    logits = logits.masked_fill(~visible(lengths, T), float("-inf"))
    return torch.einsum("bhij,bhjd->bhid", logits.softmax(dim=-1), v)
