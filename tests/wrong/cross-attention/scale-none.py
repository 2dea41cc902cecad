import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    d = x.shape[-1]
    wq = w_q.view(n_heads, d // n_heads, d)
    wk = w_k.view(n_heads, d // n_heads, d)
    wv = w_v.view(n_heads, d // n_heads, d)
    q = torch.einsum("btc,hdc->bhtd", x, wq)
    k = torch.einsum("bsc,hdc->bhsd", context, wk)
    v = torch.einsum("bsc,hdc->bhsd", context, wv)
    scores = torch.einsum("bhtd,bhsd->bhts", q, k)
    if context_lengths is not None:
        index = torch.arange(context.shape[1], device=context.device)
        visible = index < context_lengths.unsqueeze(-1)
        scores = torch.where(visible[:, None, None], scores, -torch.inf)
    attn = scores.softmax(dim=-1)
    mixed = torch.einsum("bhts,bhsd->bthd", attn, v).flatten(2)
    return torch.einsum("btc,oc->bto", mixed, w_o)
