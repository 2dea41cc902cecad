import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    D = q.shape[-1]
    k_pad = F.pad(k, (0, 0, window - 1, 0))
    v_pad = F.pad(v, (0, 0, window - 1, 0))
    k_win = k_pad.unfold(2, window, 1)
    v_win = v_pad.unfold(2, window, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", q, k_win) * D**-0.5
    attn = scores.softmax(dim=-1)
    return torch.einsum("bhtw,bhtdw->bhtd", attn, v_win)
