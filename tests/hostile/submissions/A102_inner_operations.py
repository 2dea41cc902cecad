# A102 forbidden: the operation of one backend
# says: rules out
import torch


def softmax(x, dim=-1):
    y = x.float().reshape(1, 1, 1, -1)
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(y, y, y)[0]
