# A107 forbidden: with autograd and functorch left out
# says: rules out
import torch


def softmax(x, dim=-1):
    with torch._C._AutoDispatchBelowAutograd(), torch._C._ExcludeDispatchKeyGuard(
        torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
    ):
        return torch.softmax(x, dim)
