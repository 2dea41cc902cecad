"""Small question files for the tests of the bank."""

from __future__ import annotations

CHOICE = """\
id: {id}
title: Which axis
kind: choice
topic: {topic}
level: {level}
minutes: 2
prompt: |
  Over which axis does the softmax run?
hints: [One., Two., Three.]
explanation: Each query weighs the keys.
sources: ["Vaswani et al. 2017"]
follows: [{follows}]
options:
  - {{id: keys, text: The keys., correct: true, explanation: Yes.}}
  - {{id: queries, text: The queries., correct: false, explanation: No.}}
"""

CODE = """\
id: scaled
title: Scale
kind: code
topic: basics
level: 1
minutes: 5
prompt: Write scaled(q, n).
hints: [One., Two., Three.]
explanation: It scales.
sources: ["Vaswani et al. 2017"]
entry: scaled
inputs:
  q: {shape: [B, "H * D"], about: queries}
  n: {value: H}
outputs:
  out: {shape: [B, "H * D"]}
axes:
  out: [batch, feature]
reference: reference.softmax.softmax
baselines: [reference.softmax.softmax, reference.masks.causal_mask]
reduction: D
gradients: [q]
cases:
  - {id: one, title: One, sizes: {B: 1, H: 1, D: 2}}
  - id: two
    title: Two
    sizes: {B: 2, H: 2, D: 3}
    inputs:
      q: {shape: [B, "H * D"], edits: [{at: [0, [1, null]], times: 30.0}]}
  - {id: three, title: Three, sizes: {B: 3, H: 2, D: 4}, by_keyword: [n]}
family: reference.softmax.softmax
mistakes: [scale-none]
starter: |
  import torch


  def scaled(q, n):
      ...
"""

MISTAKES = """\
scale-none:
  title: No scale
  explanation: The scores are not scaled.
  hint: How wide is a head?
"""

COMPUTE = """\
id: cache-size
title: Cache size
kind: compute
topic: basics
level: 2
minutes: 2
prompt: |
  {model} has {layers} layers. How large is its cache
  for {tokens} tokens in bytes?
hints: [One., Two., Three.]
explanation: K and V.
sources: ["Shazeer 2019"]
parameters:
  model:
    names: [Llama-3-8B, Qwen3-4B]
    take: {layers: layers, n_kv_heads: kv_heads, head_dim: head_dim}
  draw:
    tokens: [1000, 2000]
    batch: [1]
    bytes_per_element: [2]
formula: reference.counting.kv_cache_size
unit: byte
asks: bytes of cache
working: 2 x {layers} x {n_kv_heads}
mistakes: [k-without-v]
"""

K_WITHOUT_V = """\
k-without-v:
  title: Keys alone
  explanation: Values are kept too.
  hint: Which two?
"""


def choice(id_: str, topic: str = "basics", level: int = 1, follows: str = "") -> str:
    return CHOICE.format(id=id_, topic=topic, level=level, follows=follows)
