"""Scores with and without the scale 1/sqrt(d_k): their spread, and how sharp their softmax is."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader import fit
from grader.labs.results.softmax_saturation import NAMES
from grader.labs.setting import Setting, draw

QUERIES, KEYS = 64, 512


def measure(setting: Setting) -> dict[str, Any]:
    """For d_k from 16 to 1024: what `results.softmax_saturation` reads."""
    widths = [16, 64, 256, 1024] if setting.quick else [16, 32, 64, 128, 256, 512, 1024]
    draws = 4 if setting.quick else 24
    largest: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    spread: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    for place, width in enumerate(widths):
        setting.progress(place / len(widths), f"d_k = {width}")
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
        for n in range(draws):
            generator = setting.generator(1000 * n + width)
            q, k = draw(generator, QUERIES, width), draw(generator, KEYS, width)
            scores = q @ k.T  # (QUERIES, KEYS)
            for name, used in (("unscaled", scores), ("scaled", scores / math.sqrt(width))):
                weights = torch.softmax(used, dim=-1)
                found[name].append((float(weights.amax(-1).mean()), float(used.std())))
        for name in NAMES:
            largest[name].append(fit.mean_and_error([one for one, _ in found[name]]))
            spread[name].append(fit.mean_and_error([one for _, one in found[name]]))
    return {
        "queries": QUERIES,
        "keys": KEYS,
        "draws": draws,
        "widths": widths,
        "largest_probability": {name: [mean for mean, _ in largest[name]] for name in NAMES},
        "largest_probability_errors": {name: [e for _, e in largest[name]] for name in NAMES},
        "score_spread": {name: [mean for mean, _ in spread[name]] for name in NAMES},
        "score_spread_errors": {name: [error for _, error in spread[name]] for name in NAMES},
    }
