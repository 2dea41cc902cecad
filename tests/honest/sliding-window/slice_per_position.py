import torch


def sliding_window_attention(q, k, v, window):
    # go through the positions one at a time
    seq_len = q.shape[2]
    scale = q.shape[3] ** 0.5
    result = []
    for i in range(seq_len):
        first = i - window + 1
        if first < 0:
            first = 0
        last = i + 1  # python slices leave the end out
        query = q[:, :, i : i + 1, :]
        keys = k[:, :, first:last, :]
        values = v[:, :, first:last, :]
        scores = torch.matmul(query, keys.transpose(2, 3)) / scale
        probs = torch.softmax(scores, dim=3)
        result.append(torch.matmul(probs, values))
    output = torch.cat(result, dim=2)
    assert output.shape == q.shape
    return output
