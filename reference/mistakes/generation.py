"""The family of `cached-generate`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core, rope
from reference.mistakes.projected import (
    ROPE_SWITCHES,
    merge_heads,
    project,
    share_heads,
    split_heads,
)


def _place(how: str, fed_before: int, prompt_length: int) -> int:
    """The position that turns a token fed after the prompt, `fed_before` tokens after the start."""
    return {
        "right": fed_before,
        "restart": 0,
        "count-new": fed_before - prompt_length,
        "stuck": prompt_length,
        "one-late": fed_before + 1,
    }[how]


@lru_cache(maxsize=256)
def _rotations(
    width: int, span: int, dtype: torch.dtype, turns: tuple[tuple[str, Any], ...]
) -> Tensor:
    """(P, D, D): what turns a row vector at each position from 0 to P - 1; RoPE is linear.

    Kept, for most mistakes turn as right code does; nothing writes into it.
    """
    unit = torch.eye(width, dtype=dtype)  # (D, D)
    at_each = unit[None, :, None].expand(1, width, span, width)  # (1, D, P, D)
    turned = rope.apply_rope(at_each, torch.arange(span), **dict(turns))  # (1, D, P, D)
    return turned[0].transpose(0, 1).contiguous()  # (P, D, D)


class _Layer:
    """The attention layer with its cache, for positions below `span`."""

    def __init__(
        self,
        weights: tuple[Tensor, Tensor, Tensor],
        w_o: Tensor,
        n_heads: int,
        n_kv_heads: int,
        span: int,
        *,
        sees: str,
        kept: str,
        value: str,
        cached: str,
        rotated: str,
        roles: str,
        split: str,
        merge: str,
        share: str,
        switches: dict[str, Any],
    ) -> None:
        self.weights, self.w_o = weights, w_o
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.sees, self.kept, self.value, self.cached = sees, kept, value, cached
        self.rotated, self.roles = rotated, roles
        self.split, self.merge, self.share = split, merge, share
        turns = tuple((name, switches[name]) for name in sorted(ROPE_SWITCHES & switches.keys()))
        self.switches = {n: v for n, v in switches.items() if n not in ROPE_SWITCHES}
        self.turns = _rotations(w_o.shape[1] // n_heads, span, w_o.dtype, turns)  # (P, D, D)
        self.k: Tensor | None = None  # (1, H_kv, S, D)
        self.v: Tensor | None = None  # (1, H_kv, S, D)

    def _rotate(self, features: Tensor, at: slice, *parts: str) -> Tensor:
        if self.rotated not in parts:
            return features
        return (features[:, :, :, None] @ self.turns[at]).squeeze(3)  # (1, n, T, D)

    def _heads(self, x: Tensor, at: slice) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q (1, H, T, D); k as made and k turned (1, H_kv, T, D); v (1, H_kv, T, D)."""
        q, k, v = project(x, self.weights, "none", self.roles, "projected")
        q = split_heads(q, self.n_heads, self.split)
        k = split_heads(k, self.n_kv_heads, self.split)
        v = split_heads(v, self.n_kv_heads, self.split)
        q = self._rotate(q, at, "queries-keys", "queries", "all")
        return q, k, self._rotate(k, at, "queries-keys", "keys", "all"), self._rotate(v, at, "all")

    def __call__(self, x: Tensor, at: slice) -> Tensor:
        """The layer's output (1, T, d) for x (1, T, d), rotated by the positions `at`."""
        q, raw, k_new, v_new = self._heads(x, at)
        if self.k is None or self.v is None:  # the prompt
            index = torch.arange(x.shape[1], device=x.device)
            allow = index <= index[:, None]  # (T, T)
            if self.sees == "earlier-throughout":  # the first token has none before it
                allow = (index < index[:, None]) | (index + index[:, None] == 0)
            if self.kept == "generated":
                self.k, self.v = k_new[:, :, :0], v_new[:, :, :0]
            else:
                self.k, self.v = k_new, v_new
            return self._mixed(q, k_new, v_new, allow)
        if self.value == "key":
            v_new = k_new
        k = torch.cat([self.k, raw if self.cached == "again" else k_new], dim=2)
        v = torch.cat([self.v, v_new], dim=2)
        if self.cached == "again":
            k = self._rotate(k, slice(k.shape[2]), "queries-keys", "keys", "all")
        seen = {
            "all": slice(None),
            "first": slice(1),
            "earlier": slice(k.shape[2] - 1),
            "earlier-throughout": slice(k.shape[2] - 1),
            "self": slice(k.shape[2] - 1, None),
        }[self.sees]
        if self.kept != "prompt":
            self.k, self.v = k, v
        return self._mixed(q, k[:, :, seen], v[:, :, seen], None)

    def _mixed(self, q: Tensor, k: Tensor, v: Tensor, allow: Tensor | None) -> Tensor:
        keys = share_heads(k, self.n_heads, self.share)
        values = share_heads(v, self.n_heads, self.share)
        width = self.w_o.shape[0]
        mixed = core.attend(q, keys, values, allow, model_width=width, **self.switches)
        return merge_heads(mixed, self.merge) @ self.w_o.T  # (1, T, d)


def generate(
    prompt: Tensor,
    n_new: int,
    embed: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    *,
    position: str = "right",
    fed: str = "right",
    first: str = "last",
    residual: str = "kept",
    collected: str = "chosen",
    sees: str = "all",
    kept: str = "all",
    value: str = "value",
    cached: str = "rotated",
    rotated: str = "queries-keys",
    roles: str = "right",
    split: str = "right",
    merge: str = "right",
    share: str = "repeat",
    **switches: Any,
) -> Tensor:
    """Greedy decoding of a one-layer model; as the reference.

    position   `_place`
    fed        right, or twice: the prompt's last token once more after the prompt
    first      whose logits give the first token: the prompt's last position, or its first
    residual   kept, or missing: the logits are made of the attention alone
    collected  chosen; fed (the tokens fed are returned); from-second (the first is not returned)
    sees       of all keys, a step after the prompt: all; first (key 0); earlier (not its own);
               earlier-throughout (so within the prompt too); self (its own alone)
    kept       all; generated (the prompt is not kept); prompt (what follows it is not kept)
    value      what is written to the value cache after the prompt: the value, or the rotated key
    cached     rotated, or again: all kept keys rotated once more at each step
    rotated    queries-keys, queries, keys, all (the values too), or none
    The rest are switches of `projected`, of `core.attend`, and of `apply_rope`.
    """
    length = len(prompt)
    layer = _Layer(
        (w_q, w_k, w_v), w_o, n_heads, n_kv_heads, length + n_new + 2, sees=sees, kept=kept,
        value=value, cached=cached, rotated=rotated, roles=roles, split=split, merge=merge,
        share=share, switches=switches,
    )  # fmt: skip

    def logits(tokens: Tensor, at: slice) -> Tensor:
        x = embed[tokens][None]  # (1, T, d)
        mixed = layer(x, at)  # (1, T, d)
        return (mixed if residual == "missing" else x + mixed)[0] @ embed.T  # (T, V)

    def step(token: Tensor, fed_before: int) -> Tensor:
        place = _place(position, fed_before, length)
        return logits(token, slice(place, place + 1)).argmax(dim=-1)  # (1,)

    scores = logits(prompt, slice(length))  # (T, V)
    chosen = [scores[-1:].argmax(dim=-1) if first == "last" else scores[:1].argmax(dim=-1)]
    ahead = length
    if fed == "twice":
        chosen, ahead = [step(prompt[-1:], ahead)], ahead + 1
    for n in range(n_new - (collected != "from-second")):
        chosen.append(step(chosen[-1], ahead + n))
    if collected == "fed":
        chosen = [prompt[-1:], *chosen]
    start = 1 if collected == "from-second" else 0
    return torch.cat(chosen)[start : start + n_new]  # (n_new,)


MISTAKES: core.Mistakes = {
    "generate": {
        "cache-positions-restart": {"position": "restart"},
        "generate-positions-count-new": {"position": "count-new"},
        "generate-position-stuck": {"position": "stuck"},
        "generate-position-one-late": {"position": "one-late"},
        "decode-first-key-only": {"sees": "first"},
        "decode-new-token-unseen": {"sees": "earlier"},
        "decode-last-key-only": {"sees": "self"},
        "generate-prompt-forgotten": {"kept": "generated"},
        "generate-new-tokens-not-kept": {"kept": "prompt"},
        "generate-last-token-fed-twice": {"fed": "twice"},
        "generate-output-shifted": {"collected": "fed"},
        "generate-first-token-skipped": {"collected": "from-second"},
        "generate-first-position-logits": {"first": "first"},
        "generate-residual-missing": {"residual": "missing"},
        "decode-key-written-as-value": {"value": "key"},
        "cache-keys-rotated-again": {"cached": "again"},
        "rope-missing": {"rotated": "none"},
        "rope-keys-unrotated": {"rotated": "queries"},
        "rope-queries-unrotated": {"rotated": "keys"},
        "rope-on-values": {"rotated": "all"},
        "rope-interleaved": {"pairing": "interleaved"},
        "rope-clockwise": {"turn": "clockwise"},
        "rope-exponent-halved": {"exponent": "halved"},
        "rope-exponent-linspace": {"exponent": "linspace"},
        "kv-heads-tiled": {"share": "tile"},
        "kv-first-head-for-all": {"share": "first"},
        "kv-weights-swapped": {"roles": "kv-swapped"},
        "keys-as-values": {"roles": "keys-as-values"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-by-model-width": {"scale": "model-width"},
        "scale-by-d-over-heads": {"scale": "width-by-division"},
        "scale-by-n-heads": {"scale": "heads"},
        "scale-by-key-count": {"scale": "keys"},
        "heads-split-without-transpose": {"split": "reshape"},
        "heads-merged-without-transpose": {"merge": "reshape"},
    }
}
