import math

import torch


def rotate(vec, pos):
    """vec: (n, D), standing at position pos."""
    half = vec.shape[-1] // 2
    freq = [10000.0 ** (-2 * i / (2 * half)) for i in range(half)]
    cos = torch.tensor([math.cos(pos * f) for f in freq], dtype=vec.dtype, device=vec.device)
    sin = torch.tensor([math.sin(pos * f) for f in freq], dtype=vec.dtype, device=vec.device)
    a, b = vec[:, :half], vec[:, half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    D = w_q.shape[0] // n_heads
    group = n_heads // n_kv_heads
    key_list, value_list = [], []

    def step(token, pos):
        x = embed[token].float()
        q = rotate((w_q.float() @ x).view(n_heads, D), pos)
        k = rotate((w_k.float() @ x).view(n_kv_heads, D), pos)
        v = (w_v.float() @ x).view(n_kv_heads, D)
        key_list.append(k)
        value_list.append(v)
        K = torch.stack(key_list)  # (S, Hkv, D)
        V = torch.stack(value_list)
        mix = []
        for h in range(n_heads):
            score = K[:, h // group] @ q[h]
            mix.append(score.softmax(0) @ V[:, h // group])
        a = w_o.float() @ torch.cat(mix)
        return int((embed.float() @ (x + a)).argmax())

    pos = 0
    for token in prompt.tolist():
        nxt = step(token, pos)
        pos += 1
    result = []
    for _ in range(n_new):
        result.append(nxt)
        if len(result) < n_new:
            nxt = step(nxt, pos)
            pos += 1
    return torch.tensor(result, dtype=torch.int64, device=prompt.device)
