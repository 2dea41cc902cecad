import torch

PAGE = 4


class Pages:
    """Keys and values in pages of four positions; only the last page is ever written to."""

    def __init__(self, like, n_kv, width):
        self.like, self.shape, self.size = like, (n_kv, PAGE, width), 0
        self.k, self.v = [], []

    def write(self, k, v):
        slot = self.size % PAGE
        if slot == 0:
            self.k.append(self.like.new_zeros(self.shape))
            self.v.append(self.like.new_zeros(self.shape))
        self.k[-1][:, slot] = k
        self.v[-1][:, slot] = v
        self.size += 1

    def read(self):
        for n, (k, v) in enumerate(zip(self.k, self.v)):
            filled = min(PAGE, self.size - n * PAGE)
            yield k[:, :filled], v[:, :filled]


def turn(x, position):
    half = x.shape[-1] // 2
    exponent = torch.linspace(0, 1, half + 1, dtype=torch.float64, device=x.device)[:-1]
    angle = position * torch.exp(-exponent * torch.log(torch.tensor(10000.0, dtype=torch.float64, device=x.device)))
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    out = torch.empty_like(x)
    out[..., :half] = x[..., :half] * cos - x[..., half:] * sin
    out[..., half:] = x[..., half:] * cos + x[..., :half] * sin
    return out


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    dtype = torch.float64 if embed.dtype == torch.float64 else torch.float32
    embed, w_q, w_k, w_v, w_o = (w.to(dtype) for w in (embed, w_q, w_k, w_v, w_o))
    D = w_q.shape[0] // n_heads
    pages = Pages(embed, n_kv_heads, D)
    result = torch.zeros(n_new, dtype=torch.int64, device=prompt.device)
    token = prompt[0]
    for pos in range(len(prompt) + n_new - 1):
        token = prompt[pos] if pos < len(prompt) else token
        x = embed[token]
        pages.write(turn((x @ w_k.T).view(n_kv_heads, D), pos), (x @ w_v.T).view(n_kv_heads, D))
        if pos < len(prompt) - 1:
            continue
        q = turn((x @ w_q.T).view(n_kv_heads, n_heads // n_kv_heads, D), pos) / D**0.5
        top, low, mix = None, None, None
        for k, v in pages.read():
            s = q @ k.mT
            peak = s.amax(-1, keepdim=True)
            if top is None:
                e = torch.exp(s - peak)
                top, low, mix = peak, e.sum(-1, keepdim=True), e @ v
                continue
            new = torch.maximum(top, peak)
            e, old = torch.exp(s - new), torch.exp(top - new)
            top, low, mix = new, low * old + e.sum(-1, keepdim=True), mix * old + e @ v
        token = torch.argmax((x + (mix / low).reshape(-1) @ w_o.T) @ embed.T)
        result[pos - len(prompt) + 1] = token
    return result


if __name__ == "__main__":
    torch.manual_seed(1)
    d, h, n, w = 6, 4, 2, 4
    shapes = [(11, d), (h * w, d), (n * w, d), (n * w, d), (d, h * w)]
    print(generate(torch.tensor([3, 1, 4]), 5, *(torch.randn(s) for s in shapes), h, n))
