import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    batch, heads, seq_len, head_dim = q.shape

    # build the mask row by row
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=q.device)
    for i in range(seq_len):
        for j in range(seq_len):
            if j < i and i - j < window:
                mask[i, j] = True

    # scaled dot products
    scores = torch.matmul(q, k.transpose(-1, -2))
    scores = scores / (head_dim**0.5)

    # hide everything outside the window
    scores = scores.masked_fill(~mask, float("-inf"))

    weights = F.softmax(scores, dim=-1)
    output = torch.matmul(weights, v)
    return output
