import torch


def attention_backward(q, k, v, d_out):
    T, D = q.shape[-2:]
    scale = D**-0.5
    s = torch.einsum("bhid,bhjd->bhij", q, k) * scale
    s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1), -torch.inf)
    p = s.softmax(-1)
    d_v = torch.einsum("bhij,bhid->bhjd", p, d_out)
    d_p = torch.einsum("bhid,bhjd->bhij", d_out, v)
    d_s = p * (d_p - (d_p * p).sum(-1, keepdim=True))
    d_q = torch.einsum("bhij,bhjd->bhid", d_s, k) * scale
    d_k = torch.einsum("bhij,bhid->bhjd", d_s, q) * scale
    return d_q, d_k, d_v
