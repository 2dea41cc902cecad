"""Kernels that get a good time without the work, each of which the measuring loop must refuse.

A cheat is made from an honest implementation with its signature. Those who only return what they
kept are given every chance: they do the work while they are unobserved.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Function = Callable[..., Any]


@dataclass(frozen=True)
class Cheat:
    """`make` gets the honest function; `attention` needs q, k, v and causal; `cuda` a GPU."""

    name: str
    make: Callable[[Function], Function]
    cuda: bool = False


def _constant(honest: Function) -> Function:
    return lambda q, *rest: torch.full_like(q, 0.01)


def _mean_of_values(honest: Function) -> Function:
    def run(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        mean = v.mean(dim=2, keepdim=True).repeat_interleave(q.shape[1] // v.shape[1], 1)
        return mean.expand(q.shape).contiguous()

    return run


def _running_mean_of_values(honest: Function) -> Function:
    """What attention with equal scores gives under a causal mask, where T equals S."""

    def run(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        sums = v.float().cumsum(dim=2).repeat_interleave(q.shape[1] // v.shape[1], 1)
        count = torch.arange(1, v.shape[2] + 1, device=v.device)[:, None]
        return (sums / count)[:, :, -q.shape[2] :].to(q.dtype)

    return run


def _kept_by(key: Callable[..., Any]) -> Callable[[Function], Function]:
    """Computes once a key, and returns a copy of what it kept."""

    def make(honest: Function) -> Function:
        kept: dict[Any, Tensor] = {}

        def run(*inputs: Any) -> Tensor:
            mine = key(*inputs)
            if mine not in kept:
                kept[mine] = honest(*inputs).clone()
            return kept[mine].clone()

        return run

    return make


def _address(*inputs: Any) -> Any:
    return tuple(x.data_ptr() for x in inputs if isinstance(x, Tensor))


def _shape(*inputs: Any) -> Any:
    return tuple(x.shape for x in inputs if isinstance(x, Tensor))


def _few_values(*inputs: Any) -> Any:
    """The ends of every tensor: enough to tell random inputs apart."""
    ends = (x.flatten()[:: max(1, x.numel() - 1)] for x in inputs if isinstance(x, Tensor))
    return tuple(tuple(end.tolist()) for end in ends)


def _copied_later(honest: Function) -> Function:
    kept: list[Tensor] = []

    def run(*inputs: Any) -> Tensor:
        if not kept:
            kept.append(honest(*inputs).clone())
        return torch.empty_like(kept[0]).copy_(kept[0])

    return run


def _side_stream(honest: Function) -> Function:
    def run(*inputs: Any) -> Tensor:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            return honest(*inputs)

    return run


def _side_stream_for_later(honest: Function) -> Function:
    """The same, but copied back by a stream that nobody waits for: right a little later."""

    def run(q: Tensor, *rest: Any) -> Tensor:
        out = torch.empty_like(q)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            out.copy_(honest(q, *rest))
        return out

    return run


def _late_thread(honest: Function) -> Function:
    def run(q: Tensor, *rest: Any) -> Tensor:
        out = torch.empty_like(q)

        def later() -> None:
            time.sleep(0.05)
            out.copy_(honest(q, *rest))

        threading.Thread(target=later, daemon=True).start()
        return out

    return run


class _Lazy(Tensor):
    """A tensor that computes where it is first used."""

    work: Callable[[], Tensor]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        ready = [x.work() if isinstance(x, _Lazy) else x for x in args]
        return func(*ready, **(kwargs or {}))


def _lazy(honest: Function) -> Function:
    def run(q: Tensor, *rest: Any) -> Tensor:
        out = torch.empty_like(q).as_subclass(_Lazy)
        out.work = lambda: honest(q, *rest)
        return out

    return run


def _patched(owner: Any, name: str, value: Any) -> Callable[[Function], Function]:
    def make(honest: Function) -> Function:
        def run(*inputs: Any) -> Any:
            setattr(owner, name, value)
            return honest(*inputs)

        return run

    return make


class _Event:
    """Stands in for torch.cuda.Event: nothing took any time."""

    def __init__(self, *args: Any, **named: Any) -> None:
        pass

    def record(self, *args: Any) -> None:
        pass

    def elapsed_time(self, other: Any) -> float:
        return 1e-3


def _nothing(*args: Any, **named: Any) -> None:
    return None


def _fp8(honest: Function) -> Function:
    def run(*inputs: Any) -> Any:
        coarse = [
            x.to(torch.float8_e4m3fn).to(x.dtype)
            if isinstance(x, Tensor) and x.is_floating_point()
            else x
            for x in inputs
        ]
        return honest(*coarse)

    return run


def _half_sums(honest: Function) -> Function:
    """The running sums of a tiled kernel kept in the inputs' own half precision."""

    def run(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        queries, keys = q.shape[2], k.shape[2]
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)  # (B, H, S, D)
        place = torch.arange(keys - queries, keys, device=q.device)[:, None]  # (T, 1)
        top = torch.full_like(q[..., :1], -torch.inf, dtype=torch.float32)  # (B, H, T, 1)
        total, acc = torch.zeros_like(q[..., :1]), torch.zeros_like(q)
        for start in range(0, keys, 64):
            tile = slice(start, start + 64)
            scores = (q @ k[:, :, tile].transpose(-2, -1)).float() / q.shape[-1] ** 0.5
            if causal:
                key = torch.arange(start, min(start + 64, keys), device=q.device)
                scores = scores.masked_fill(key > place, -torch.inf)
            new = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
            weights = torch.exp(scores - new).to(q.dtype)
            factor = torch.exp(top - new).to(q.dtype)
            total = total * factor + weights.sum(dim=-1, keepdim=True)
            acc = acc * factor + weights @ v[:, :, tile]
            top = new
        return acc / total

    return run


def _stale(honest: Function) -> Function:
    """Memory as the allocator has it, after one honest result was there."""
    calls = [0]

    def run(q: Tensor, *rest: Any) -> Tensor:
        calls[0] += 1
        if calls[0] == 1:
            return honest(q, *rest)
        return torch.empty_like(q)

    return run


def _same_memory(honest: Function) -> Function:
    """Returns the tensor of its first call again and again."""
    kept: list[Tensor] = []

    def run(*inputs: Any) -> Tensor:
        if not kept:
            kept.append(honest(*inputs))
        return kept[0]

    return run


def _stops(calls: int) -> Callable[[Function], Function]:
    """Honest for as long as a warm-up is likely to last."""

    def make(honest: Function) -> Function:
        made = [0]

        def run(q: Tensor, *rest: Any) -> Tensor:
            made[0] += 1
            return honest(q, *rest) if made[0] <= calls else torch.zeros_like(q)

        return run

    return make


def _spoils_inputs(honest: Function) -> Function:
    """Sets the values to 0, for which the right output is 0."""

    def run(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        v.zero_()
        return torch.zeros_like(q)

    return run


def _skips_rows(honest: Function) -> Function:
    """Every row but a few of the last, which no sample of the first would show."""

    def run(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        out = torch.zeros_like(q)
        kept = max(1, q.shape[2] * 15 // 16)
        seen = k.shape[2] - q.shape[2] + kept if causal else k.shape[2]
        out[:, :, :kept] = honest(q[:, :, :kept], k[:, :, :seen], v[:, :, :seen], causal)
        return out

    return run


CHEATS = (
    Cheat("constant output", _constant),
    Cheat("mean of the values", _mean_of_values),
    Cheat("running mean of the values", _running_mean_of_values),
    Cheat("result kept by address", _kept_by(_address)),
    Cheat("result kept by shape", _kept_by(_shape)),
    Cheat("result kept by a few values", _kept_by(_few_values)),
    Cheat("computed once, copied later", _copied_later),
    Cheat("work on a side stream", _side_stream, cuda=True),
    Cheat("work on a side stream, right later", _side_stream_for_later, cuda=True),
    Cheat("filled in later by a thread", _late_thread),
    Cheat("a tensor that computes where it is used", _lazy),
    Cheat("time.perf_counter replaced", _patched(time, "perf_counter", lambda: 0.0)),
    Cheat("torch.cuda.Event replaced", _patched(torch.cuda, "Event", _Event)),
    Cheat(
        "elapsed_time of an event replaced",
        _patched(torch.cuda.Event, "elapsed_time", lambda self, other: 1e-3),
    ),
    Cheat("torch.cuda.synchronize replaced", _patched(torch.cuda, "synchronize", _nothing)),
    Cheat("the comparison replaced", _patched(Tensor, "abs", torch.zeros_like)),
    Cheat("fp8 inside", _fp8),
    Cheat("sums in half precision", _half_sums),
    Cheat("memory as it was found", _stale),
    Cheat("the first output again", _same_memory),
    Cheat("stops after 2 calls", _stops(2)),
    Cheat("stops after 5 calls", _stops(5)),
    Cheat("inputs set to 0", _spoils_inputs),
    Cheat("the last rows skipped", _skips_rows),
)
