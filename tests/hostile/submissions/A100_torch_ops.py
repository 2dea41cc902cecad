# A100 forbidden: by torch.ops
# says: rules out
import torch


def softmax(x, dim=-1):
    return torch.ops.aten._softmax.default(x, dim, False)
