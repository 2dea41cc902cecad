import torch


def attention_backward(q, k, v, d_out):
    T, D = q.shape[-2:]
    s = torch.einsum("bhid,bhjd->bhij", q, k) / D**0.5
    s = s.masked_fill(torch.ones(T, T, device=q.device).triu(1).bool(), float("-inf"))
    p = s.softmax(-1)
    dp = torch.einsum("bhid,bhjd->bhij", d_out, v)
    ds = p * (dp - (dp * p).sum(-1, keepdim=True)) / D**0.5
    d_q = torch.einsum("bhij,bhjd->bhid", ds, k)
    d_k = torch.einsum("bhij,bhid->bhjd", ds, q)
    d_v = torch.einsum("bhij,bhid->bhjd", p, d_out)
    return d_q, d_k, d_v
