# A007 memory_limit@3: tensors forever, each of them written to
# says: more memory
import torch

kept = []


def softmax(x, dim=-1):
    while True:
        kept.append(torch.ones(1 << 27))
