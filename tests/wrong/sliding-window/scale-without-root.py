import torch


def one_head(q, k, v, window):
    t, d = q.shape
    scores = q @ k.T / d
    for i in range(t):
        for j in range(t):
            visible = j <= i and j > i - window
            if not visible:
                scores[i, j] = float("-inf")
    return torch.softmax(scores, dim=1) @ v


def sliding_window_attention(q, k, v, window):
    return torch.stack(
        [
            torch.stack([one_head(q[b, h], k[b, h], v[b, h], window) for h in range(q.shape[1])])
            for b in range(q.shape[0])
        ]
    )
