import torch as th


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    bsz, length, width = x.size()
    qkv = x.matmul(th.cat([w_q, w_k, w_v]).t())
    q, k, v = qkv.view(bsz, length, 3, n_heads, width // n_heads).permute(2, 0, 3, 1, 4)
    att = q.matmul(k.transpose(-2, -1)).mul((width // n_heads) ** -0.5)
    steps = th.ones_like(att).cumsum(-1)
    att = att.masked_fill(steps.gt(steps.transpose(-2, -1)), th.finfo(att.dtype).min)
    att = att.sub(att.logsumexp(-1, keepdim=True)).exp()
    return att.matmul(v).transpose(1, 2).contiguous().view(bsz, length, width).matmul(w_o.t())
