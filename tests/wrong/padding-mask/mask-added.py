import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[-2:]
    bias = (torch.arange(T) < lengths.unsqueeze(1)).view(-1, 1, 1, T)
    logits = q.float().mul(D**-0.5).matmul(k.float().mT).add(bias)
    weights = logits.softmax(dim=-1)
    out = weights.matmul(v.float()).to(q.dtype)
    return torch.where(lengths.view(-1, 1, 1, 1) == 0, torch.zeros_like(out), out)
