"""One layer in its two shapes, many tokens at once and one token over a cache."""

from __future__ import annotations

from statistics import median
from typing import Any

import torch

from grader import fit
from grader.labs.results.prefill_decode import CONTROL, PARTS
from grader.labs.roofline import measured
from grader.labs.setting import Setting, draw
from grader.labs.subject import Timed
from grader.labs.timing import Task, freed_memory_kept, interleaved, timed
from reference.attention import attention
from reference.flash_attention import flash_attention

H, D, BLOCK = 32, 64, 128


def measure(setting: Setting) -> dict[str, Any]:
    """Time each part, and the roofs: what `results.prefill_decode` reads, in seconds."""
    heads, prompt, cache = (4, 64, 256) if setting.quick else (H, 1024, 16384)
    rounds, unit = setting.rounds, setting.unit
    d = heads * D
    done = 0
    what = "the machine's roofs"

    def step() -> None:
        nonlocal done
        done += 1
        setting.progress(done / (2 * rounds), what)

    setting.progress(0.0, what)
    roof = measured(setting.quick, rounds, unit, step)
    what = "prefill and decode"
    generator = setting.generator()
    x, token = draw(generator, prompt, d), draw(generator, 1, d)
    weight = draw(generator, d, 4 * d)
    q, k, v = (draw(generator, 1, heads, prompt, D) for _ in range(3))
    one = draw(generator, 1, heads, 1, D)
    keys, values = (draw(generator, 1, heads, cache, D) for _ in range(2))
    tasks: dict[str, Task] = {
        "prefill-projections": timed(lambda: x @ weight),
        "prefill-attention": timed(lambda: attention(q, k, v)),
        "prefill-tiled": timed(lambda: flash_attention(q, k, v, BLOCK)),
        "decode-projections": timed(lambda: token @ weight),
        "decode-attention": timed(lambda: attention(one, keys, values)),
    }
    subject = setting.subject
    if subject is not None:
        few_k, few_v = (tensor[:, :, :8].contiguous() for tensor in (k, v))
        whole_prompt, whole_cache = (q, k, v), (one, keys, values)
        # The small one first: of what is wrong everywhere it is soon known.
        for arguments in ((one, few_k, few_v), whole_prompt, whole_cache):
            subject.check(arguments, [attention(*arguments)])
        tasks["prefill-attention"] = subject.task(whole_prompt, q)
        tasks["decode-attention"] = subject.task(whole_cache, one)
    tasks[CONTROL] = tasks["decode-attention"]
    with torch.inference_mode(), freed_memory_kept():
        taken = interleaved(tasks, rounds, unit, step)
    for task in tasks.values():
        if isinstance(task, Timed):
            task.check(attention)
    times = {name: fit.median_and_error(taken[name]) for name in PARTS}
    if subject is not None:
        subject.took(times["prefill-attention"][0], f"{prompt:,} tokens")
        subject.took(times["decode-attention"][0], f"a token over {cache:,} cached ones")
    return {
        "heads": heads,
        "head_dim": D,
        "prompt": prompt,
        "cache": cache,
        "dtype": "float32",
        "repetitions": [len(taken[CONTROL])] * 2,
        "unit_seconds": unit,
        "roof": roof.to_json(),
        "seconds": {**{n: middle for n, (middle, _) in times.items()},
                    CONTROL: median(taken[CONTROL])},
        "standard_errors": {name: error for name, (_, error) in times.items()},
    }  # fmt: skip
