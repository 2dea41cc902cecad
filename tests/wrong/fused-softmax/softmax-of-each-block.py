import torch


def fused_softmax(x):
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    done = []
    for block in x.split(64, dim=1):
        e = torch.exp(block.to(kind) - block.amax(1, keepdim=True).to(kind))
        done.append((e / e.sum(1, keepdim=True)).to(x.dtype))
    return torch.cat(done, dim=1)
