# A144 passed: leaves files, and looks for those of an earlier run
import os
import tempfile

import torch

own = {os.getcwd(), os.environ["HOME"], tempfile.gettempdir()}
for folder in (*own, "..", "/tmp", "/var/tmp", "/dev/shm", "/run"):
    try:
        names = os.listdir(folder)
    except OSError:
        continue
    if any("{mark}" in name for name in names):
        raise SystemError("a leak: " + folder)
for folder in (*own, "..", "/tmp", "/var/tmp", "/dev/shm", "/run"):
    try:
        with open(os.path.join(folder, "{mark}-left"), "w") as file:
            file.write("answers")
    except OSError:
        pass


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(x - top)
    total = e.sum(dim, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))
