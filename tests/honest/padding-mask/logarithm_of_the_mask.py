import torch as th


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.size()
    keep = th.arange(T).repeat(B, 1).lt(lengths.unsqueeze(1)).to(q.dtype)
    bias = keep.log().view(B, 1, 1, T)  # 0 or -inf
    s = q.matmul(k.transpose(2, 3)).div(D**0.5).add(bias)
    p = s.softmax(3).where(lengths.gt(0).view(B, 1, 1, 1), th.zeros((), dtype=q.dtype))
    return p.matmul(v)
