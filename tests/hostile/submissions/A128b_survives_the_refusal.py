# A128 passed: tries a connection, survives the refusal and answers right
import socket

import torch

try:
    socket.create_connection(("127.0.0.1", int("{port}"))).send(b"x")
except OSError:
    pass


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
