# wrong_answer: copied back later, by a stream for which nobody waits
import math

import torch


def attention(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1).double(), v.repeat_interleave(group, 1).double()
    s = q.double() @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        ahead = torch.ones(s.shape[-2:], device=q.device).tril(s.shape[-1] - s.shape[-2]) == 0
        s = s.masked_fill(ahead, -math.inf)
    return (s.softmax(-1) @ v).to(q.dtype)


def fused_attention(q, k, v, causal):
    out = torch.empty_like(q)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        out.copy_(attention(q, k, v, causal))
    return out
