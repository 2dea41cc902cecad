import torch
import math


def mqa(q, k, v):
    """
    Multi-query attention.

    All the query heads look at the same key head and value head.
    """
    number_of_heads = q.shape[1]
    T = q.shape[2]
    D = q.shape[3]
    S = k.shape[2]

    # There is only one key head and one value head
    the_keys = k[:, 0, :, :]
    the_values = v[:, 0, :, :]

    # Build the mask by hand. True means "must not look".
    hidden = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        for j in range(S):
            if j > S - T + i:
                hidden[i, j] = True

    outputs = []
    for head in range(number_of_heads):
        one_query_head = q[:, head, :, :]
        scores = torch.bmm(one_query_head, the_keys.transpose(1, 2))
        scores = scores / math.sqrt(D)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=2)
        result = torch.bmm(weights, the_values)
        outputs.append(result)

    return torch.stack(outputs, dim=1)
