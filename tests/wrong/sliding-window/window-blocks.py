import torch


def sliding_window_attention(q, k, v, window):
    T, D = q.shape[2], q.shape[3]
    out = []
    for i in range(T):
        start = (i // window) * window
        stop = i + 1
        qi = q[:, :, i : i + 1, :]
        ki = k[:, :, start:stop, :]
        vi = v[:, :, start:stop, :]
        s = qi @ ki.transpose(-2, -1) / D**0.5
        out.append(torch.softmax(s, dim=-1) @ vi)
    return torch.cat(out, dim=2)
