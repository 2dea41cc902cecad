import numpy as np
import torch


def sliding_window_attention(q, k, v, window):
    t, d = q.shape[-2:]
    band = np.tri(t, dtype=bool) & ~np.tri(t, k=-window, dtype=bool)
    band = torch.from_numpy(band).to(q.device)
    s = torch.einsum("...td,...sd->...ts", q.double(), k.double()) / np.sqrt(d)
    s[..., ~band] = -np.inf
    p = torch.softmax(torch.softmax(s, -1), -1)
    return torch.einsum("...ts,...sd->...td", p, v.double()).type_as(q)
