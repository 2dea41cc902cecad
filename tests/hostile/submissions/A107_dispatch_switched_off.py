# A107 forbidden: with the dispatch modes switched off
# says: rules out
import torch


def softmax(x, dim=-1):
    with torch._C._DisableTorchDispatch():
        return torch.softmax(x, dim)
