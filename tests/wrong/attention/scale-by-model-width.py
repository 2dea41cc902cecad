import torch


def attention(q, k, v, mask=None):
    n_heads, head_width = q.shape[1], q.shape[3]
    d_model = n_heads * head_width
    scores = torch.matmul(q, k.mT) / d_model**0.5
    if mask is None:
        return scores.softmax(-1).matmul(v)
    scores = scores.masked_fill(mask.logical_not(), -1e30)
    return (scores.softmax(-1) * mask.to(v.dtype)).matmul(v)
