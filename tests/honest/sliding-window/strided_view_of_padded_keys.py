import torch


def windows(x, w):
    """(N, T, D) -> (N, T, w, D): overlapping views, row t ends at position t."""
    N, T, D = x.shape
    padded = torch.cat([x.new_zeros(N, w - 1, D), x], dim=1)
    a, b, c = padded.stride()
    return padded.as_strided((N, T, w, D), (a, b, b, c))


def sliding_window_attention(q, k, v, window):
    B, H, T, D = q.shape
    w = min(window, T)
    queries = q.reshape(B * H * T, 1, D)
    keys = windows(k.reshape(B * H, T, D), w).reshape(B * H * T, w, D)
    values = windows(v.reshape(B * H, T, D), w).reshape(B * H * T, w, D)
    # row t has t + 1 real keys at most: the rest of its window is padding
    bias = torch.zeros(T, w, dtype=q.dtype)
    for t in range(w - 1):
        bias[t, : w - 1 - t] = -torch.inf
    bias = bias.repeat(B * H, 1).unsqueeze(1)
    scores = torch.baddbmm(bias, queries, keys.transpose(1, 2), alpha=1 / D**0.5)
    return torch.bmm(torch.softmax(scores, -1), values).view(B, H, T, D)
