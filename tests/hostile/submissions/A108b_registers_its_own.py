# A108 forbidden|runtime_error: registers a kernel of its own over the refusal
import torch
import torch.library

mine = torch.library.Library("aten", "IMPL")
mine.impl("softmax.int", lambda x, dim, dtype=None: x, "CompositeImplicitAutograd")


def softmax(x, dim=-1):
    return torch._softmax(x, dim, False)
