import numpy as np
import torch


def online_softmax(x, block_size):
    a = x.to(torch.float64).numpy()
    m = np.full(a.shape[:-1], -np.inf)
    l = np.zeros(a.shape[:-1])
    for part in np.split(a, range(block_size, a.shape[-1], block_size), axis=-1):
        new = np.maximum(m, part.max(-1))
        l = l * np.exp(m - new) + np.exp(part - new[..., None]).sum(-1)
        m = new
    return torch.as_tensor(m).to(x.dtype), torch.as_tensor(l).to(x.dtype)
