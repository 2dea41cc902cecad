import itertools

import torch


def _decode(prompt, embed, w_q, w_k, w_v, w_o, H, N):
    """Yields tokens for ever; its local variables are the cache."""
    D = w_q.shape[0] // H
    w_kv = torch.cat([w_k, w_v])
    theta = 10000 ** (torch.arange(D // 2, dtype=torch.float64, device=embed.device).mul(-2).div(D))
    K = V = None
    token, pos = None, 0
    given = iter(prompt)
    while True:
        nxt = next(given, None)
        x = embed[token if nxt is None else nxt]
        c, s = torch.cos(pos * theta), torch.sin(pos * theta)
        R = torch.zeros(D, D, dtype=torch.float64, device=embed.device)  # the rotation as a matrix
        i = torch.arange(D // 2, device=embed.device)
        R[i, i], R[i, i + D // 2] = c, -s
        R[i + D // 2, i], R[i + D // 2, i + D // 2] = s, c
        q = (w_q @ x).view(N, H // N, D) @ R.T
        k, v = (w_kv @ x).view(2, N, 1, D)
        k = k @ R.T
        K = k if K is None else torch.cat((K, k), -2)
        V = v if V is None else torch.cat((V, v), -2)
        pos += 1
        if nxt is not None and pos < len(prompt):
            continue  # nobody asks what follows the middle of the prompt
        p = torch.softmax(q @ K.mT / D**0.5, -1)
        token = torch.argmax(embed @ (x + w_o @ (p @ V).flatten()))
        yield int(token)


@torch.inference_mode()
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    weights = [w.double() for w in (embed, w_q, w_k, w_v, w_o)]
    stream = _decode(prompt, *weights, n_heads, n_kv_heads)
    return torch.tensor(list(itertools.islice(stream, n_new)), dtype=torch.long, device=prompt.device)
