# A111 denied|runtime_error: builds C++ that calls the operation below the dispatcher
import torch
from torch.utils.cpp_extension import load_inline

code = "torch::Tensor f(torch::Tensor x) { return at::softmax(x, -1); }"
module = load_inline("mine", code, functions=["f"])


def softmax(x, dim=-1):
    return module.f(x)
