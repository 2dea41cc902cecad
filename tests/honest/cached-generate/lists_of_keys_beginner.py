import math

import torch


def rotate(vector, position):
    """Rotary embedding of one vector (head_width,), half-split."""
    width = vector.shape[0]
    half = width // 2
    result = torch.zeros_like(vector)
    for i in range(half):
        frequency = 10000.0 ** (-2.0 * i / width)
        angle = position * frequency
        a = vector[i]
        b = vector[i + half]
        result[i] = a * math.cos(angle) - b * math.sin(angle)
        result[i + half] = a * math.sin(angle) + b * math.cos(angle)
    return result


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    embed = embed.float()
    w_q, w_k, w_v, w_o = w_q.float(), w_k.float(), w_v.float(), w_o.float()
    head_width = w_q.shape[0] // n_heads
    group = n_heads // n_kv_heads

    # one list of keys and one list of values for every kv head
    keys = [[] for _ in range(n_kv_heads)]
    values = [[] for _ in range(n_kv_heads)]

    def step(token, position):
        """Feed one token, remember its keys and values, return the next token."""
        x = embed[token]
        q = w_q @ x
        k = w_k @ x
        v = w_v @ x
        for g in range(n_kv_heads):
            piece = slice(g * head_width, (g + 1) * head_width)
            keys[g].append(rotate(k[piece], position))
            values[g].append(v[piece])
        heads = []
        for h in range(n_heads):
            query = rotate(q[h * head_width : (h + 1) * head_width], position)
            K = torch.stack(keys[h // group])
            V = torch.stack(values[h // group])
            weights = torch.softmax(K @ query / math.sqrt(head_width), dim=0)
            heads.append(weights @ V)
        a = w_o @ torch.cat(heads)
        logits = embed @ (x + a)
        return int(torch.argmax(logits))

    position = 0
    next_token = None
    for token in prompt.tolist():
        next_token = step(token, position)
        position = position + 1

    generated = []
    while len(generated) < n_new:
        generated.append(next_token)
        if len(generated) == n_new:
            break
        next_token = step(next_token, position)
        position = position + 1
    # print("generated", generated)
    return torch.tensor(generated, dtype=torch.int64, device=prompt.device)
