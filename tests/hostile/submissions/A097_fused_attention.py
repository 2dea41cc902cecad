# A097 forbidden: calls the fused operation
# says: rules out
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    return F.scaled_dot_product_attention(x[None], x[None], x[None])[0]
