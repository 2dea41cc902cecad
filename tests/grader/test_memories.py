"""A result hangs on its arguments alone: what code keeps from call to call is found, each time.

Real processes; the files are as people write them who want to save work.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bank import question

from grader.report import Report
from grader.session import Grader
from questions import index

DECODE = """
import torch
KEPT = {}
def latent_decode(q, latent, w_uk, w_uv):
    heads, width = q.shape[1], q.shape[-1]
"""
USES = """
    q = torch.einsum("bhtd,hdr->bhtr", q, up.view(heads, width, -1))
    scores = q @ latent[:, None].mT / width**0.5
    mixed = torch.softmax(scores, -1) @ latent[:, None]
    return torch.einsum("bhtr,her->bhte", mixed, w_uv.view(heads, -1, latent.shape[-1]))
"""
FORGETFUL = {
    "an object's id": "up = KEPT.setdefault((id(w_uk), w_uk.shape, w_uk.dtype), w_uk.clone())",
    "an address": "up = KEPT.setdefault((w_uk.data_ptr(), w_uk.shape, w_uk.dtype), w_uk.clone())",
    "a shape": "up = KEPT.setdefault((w_uk.shape, w_uk.dtype), w_uk.clone())",
}
RIGHT = {
    "nothing": "up = w_uk",
    "an object's id, with the object": (
        "up = KEPT.setdefault((id(w_uk), w_uk.shape, w_uk.dtype), (w_uk, w_uk.clone()))[1]"
    ),
    "its numbers": (
        "same = [u for u in KEPT.values() if u.dtype == w_uk.dtype and torch.equal(u, w_uk)]"
        "\n    up = same[0] if same else w_uk\n    KEPT[len(KEPT) % 4] = up.clone()"
    ),
}
SHARED_RESULT = """
import torch
OUT = {}
def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    raised = (x - top.masked_fill(top == -torch.inf, 0.0)).exp()
    total = raised.sum(dim, keepdim=True)
    out = OUT.setdefault((x.shape, x.dtype), torch.empty_like(x))
    return out.copy_(raised / total.masked_fill(total == 0.0, 1.0))
"""


BY_ADDRESS = """
import torch
WEIGHTS = {}
def attention(q, k, v, mask=None):
    key = (q.data_ptr(), q.shape, k.shape, q.dtype, mask is None)
    if key not in WEIGHTS or q.requires_grad:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        WEIGHTS[key] = torch.softmax(scores, -1).nan_to_num(0.0)
    return WEIGHTS[key] @ v
"""


GOES_ON = """
import torch
HELD = {}
def decode_step(q, k_new, v_new, k_cache, v_cache):
    if k_cache.shape[2] and HELD and HELD["k"].shape == k_cache.shape:
        k_cache, v_cache = HELD["k"].to(k_cache), HELD["v"].to(v_cache)
    k, v = torch.cat([k_cache, k_new], 2), torch.cat([v_cache, v_new], 2)
    HELD.update(k=k, v=v)
    share = q.shape[1] // k.shape[1]
    keys, values = k.repeat_interleave(share, 1), v.repeat_interleave(share, 1)
    return torch.softmax(q @ keys.mT / q.shape[-1] ** 0.5, -1) @ values, k, v
"""
GOES_ON_IN_A_LAYER = """
import torch
HELD = {}
def turned(x, at, base):
    half = x.shape[-1] // 2
    angle = at[:, None].double() * base ** (-torch.arange(half).double() / half)
    a, b, c, s = x[..., :half].double(), x[..., half:].double(), angle.cos(), angle.sin()
    return torch.cat([a * c - b * s, a * s + b * c], -1).to(x.dtype)
def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B, T, _ = x.shape
    S = k_cache.shape[2]
    if S and HELD and HELD["k"].shape == k_cache.shape and HELD["k"].dtype == x.dtype:
        k_cache, v_cache = HELD["k"], HELD["v"]
    sizes = ((w_q, n_heads), (w_k, n_kv_heads), (w_v, n_kv_heads))
    q, k, v = ((x @ w.T).view(B, T, n, -1).transpose(1, 2) for w, n in sizes)
    at = torch.arange(S, S + T)
    k = torch.cat([k_cache, turned(k, at, base)], 2)
    v = torch.cat([v_cache, v], 2)
    HELD.update(k=k, v=v)
    keys, values = (y.repeat_interleave(n_heads // n_kv_heads, 1) for y in (k, v))
    scores = turned(q, at, base) @ keys.mT / q.shape[-1] ** 0.5
    hidden = torch.ones(T, S + T, dtype=torch.bool).triu(S + 1)
    mixed = torch.softmax(scores.masked_fill(hidden, -torch.inf), -1) @ values
    return mixed.transpose(1, 2).reshape(B, T, -1) @ w_o.T, k, v
"""
BY_PAGES = """
import torch
GATHERED = {}
def paged_decode(q, k_pages, v_pages, block_table, lengths):
    rows = []
    for b, length in enumerate(lengths.tolist()):
        used = block_table[b][: -(-length // k_pages.shape[1])]
        key = (tuple(used.tolist()), k_pages.shape, k_pages.dtype)
        if key not in GATHERED:
            GATHERED[key] = [p[used].flatten(0, 1).transpose(0, 1) for p in (k_pages, v_pages)]
        k, v = (x[:, :length] for x in GATHERED[key])
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[0], 0) for x in (k, v))
        rows.append(torch.softmax(q[b] @ k.mT / q.shape[-1] ** 0.5, -1) @ v)
    return torch.stack(rows)
"""


TOLD = ("right in a fresh process", "gave other values the second time")


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


def grade(grader: Grader, id_: str, source: str, seed: int) -> Report:
    texts = index.load().mistakes
    return grader.grade(question(id_), source.encode(), seed, "answer.py", texts)


@pytest.mark.parametrize("by", FORGETFUL)
def test_numbers_remembered_by_what_comes_again_are_found(grader: Grader, by: str) -> None:
    for seed in range(3):
        report = grade(grader, "mla-decode", DECODE + "    " + FORGETFUL[by] + USES, seed)
        assert report.verdict == "wrong_answer", (by, seed)
        assert any(words in report.summary for words in TOLD), report.summary
        assert report.mistakes == ()


def test_the_memory_of_new_arguments_lies_where_that_of_the_old_did(grader: Grader) -> None:
    for seed in range(3):
        report = grade(grader, "attention", BY_ADDRESS, seed)
        assert report.verdict == "wrong_answer"
        assert any(words in report.summary for words in TOLD), report.summary


@pytest.mark.parametrize(
    ("id_", "source", "mend"),
    [
        ("kv-cache-decode", GOES_ON, ("HELD.update(k=k, v=v)", "pass")),
        ("cached-attention", GOES_ON_IN_A_LAYER, ("HELD.update(k=k, v=v)", "pass")),
        ("paged-decode", BY_PAGES, ("if key not in GATHERED", "if True")),
    ],
)
def test_what_goes_on_from_its_last_call_is_found(
    grader: Grader, id_: str, source: str, mend: tuple[str, str]
) -> None:
    for seed in range(3):
        report = grade(grader, id_, source, seed)
        assert report.verdict == "wrong_answer", seed
        assert any(words in report.summary for words in TOLD), report.summary
    assert grade(grader, id_, source.replace(*mend), 0).verdict == "passed"


@pytest.mark.parametrize("by", RIGHT)
def test_what_is_remembered_rightly_passes(grader: Grader, by: str) -> None:
    for seed in range(2):
        report = grade(grader, "mla-decode", DECODE + "    " + RIGHT[by] + USES, seed)
        assert report.verdict == "passed", (by, report.summary)


def test_a_result_that_a_later_call_overwrites_is_found(grader: Grader) -> None:
    report = grade(grader, "stable-softmax", SHARED_RESULT, 3)
    assert report.verdict == "wrong_answer"
    failed = {check.id for check in report.checks if check.verdict not in ("passed", "skipped")}
    assert failed == {"repeatable"}
    assert "wrote into the tensor that an earlier one had returned" in report.summary
    kept = grade(grader, "stable-softmax", SHARED_RESULT.replace("out.copy_(", "("), 3)
    assert kept.verdict == "passed"


def test_the_reference_is_timed_for_the_cases_of_one_submission(grader: Grader) -> None:
    """The judge keeps what it knows of a seed; the second submission's figure is no sum of both."""
    first = grade(grader, "stable-softmax", SHARED_RESULT, 5).costs.reference_seconds
    again = grade(grader, "stable-softmax", SHARED_RESULT, 5).costs.reference_seconds
    assert first == again != 0.0


CHUNKS = """
import torch
def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    B, T, _ = x.shape
    S = k_cache.shape[2]
    sizes = ((w_q, n_heads), (w_k, n_kv_heads), (w_v, n_kv_heads))
    q, k, v = ((x @ w.T).view(B, T, n, -1).transpose(1, 2) for w, n in sizes)
    k, v = torch.cat([k_cache, k], 2), torch.cat([v_cache, v], 2)
    keys, values = (y.repeat_interleave(n_heads // n_kv_heads, 1) for y in (k, v))
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    if MASKED:
        hidden = torch.ones(T, S + T, dtype=torch.bool).triu(S + 1)
        scores = scores.masked_fill(hidden, -torch.inf)
    mixed = torch.softmax(scores, -1) @ values
    return mixed.transpose(1, 2).reshape(B, T, -1) @ w_o.T, k, v
"""


def test_a_right_case_is_not_blamed_for_a_longer_cache_that_other_cases_show(
    grader: Grader,
) -> None:
    report = grade(grader, "cached-gqa", CHUNKS.replace("MASKED", "S == 0"), 3)
    failed = {c.id for c in report.checks if c.verdict == "wrong_answer"}
    assert "values/chunk" in failed
    assert not failed & {"values/prefill", "values/first-token", "values/one-token"}


def test_what_only_a_longer_cache_shows_fails_the_case_that_was_made_longer(
    grader: Grader,
) -> None:
    report = grade(grader, "cached-gqa", CHUNKS.replace("MASKED", "S != 133"), 3)
    failed = {c.id for c in report.checks if c.verdict == "wrong_answer"}
    assert report.verdict == "wrong_answer"
    assert failed == {"values/long"}
