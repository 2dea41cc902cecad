"""Answers with right values: at a fair cost, and at too high a one, openly and hidden.

A module a drill: RIGHT, style -> its text; TOO_COSTLY, style -> its text and what the report must
say; CHEAT, where there is one, right at the sizes of the cases alone.
"""

from __future__ import annotations

from cost_answers import (
    cached_generate,
    flash_attention,
    linear_attention,
    mla_decode,
    online_softmax,
)

_DRILLS = {
    "flash-attention": flash_attention,
    "online-softmax": online_softmax,
    "linear-attention": linear_attention,
    "mla-decode": mla_decode,
    "cached-generate": cached_generate,
}
RIGHT = {id_: drill.RIGHT for id_, drill in _DRILLS.items()}
TOO_COSTLY = {id_: drill.TOO_COSTLY for id_, drill in _DRILLS.items()}
CHEATS = {id_: drill.CHEAT for id_, drill in _DRILLS.items() if hasattr(drill, "CHEAT")}
