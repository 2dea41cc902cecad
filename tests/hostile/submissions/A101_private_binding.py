# A101 forbidden: by torch._C._nn
# says: rules out
import torch


def softmax(x, dim=-1):
    return torch._C._nn.scaled_dot_product_attention(x[None], x[None], x[None])[0]
