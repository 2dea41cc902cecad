import torch


def fused_softmax(x: torch.Tensor) -> torch.Tensor:
    if x.dtype in (torch.float16, torch.bfloat16):
        return fused_softmax(x.float()).to(x.dtype)
    # Two tensors of x's size besides the result: the difference and the exponentials.
    difference = x - x.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(difference)
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-4)
