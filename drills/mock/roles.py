"""What each role's interview is made of, as real rounds go."""

from __future__ import annotations

from dataclasses import dataclass

from questions.kinds import CODE_KINDS

CORRECTNESS, DERIVATION, SYSTEMS = "correctness", "derivation", "systems arithmetic"
DEBUGGING, COMMUNICATION, PACE = "debugging", "communication", "pace"
COMPETENCIES = (CORRECTNESS, DERIVATION, SYSTEMS, DEBUGGING, COMMUNICATION, PACE)

_BY_KIND = {
    "code": CORRECTNESS,
    "kernel": CORRECTNESS,
    "debug": DEBUGGING,
    "derive": DERIVATION,
    "trace": DERIVATION,
    "compute": SYSTEMS,
    "explain": COMMUNICATION,
}


@dataclass(frozen=True)
class Round:
    """`share` of the time is for it. Its first question is of one of `kinds`, and of one of
    `topics` where it names any; a choice counts for `competency`, any other question for that of
    its kind."""

    name: str
    kinds: tuple[str, ...]
    share: float
    competency: str
    topics: tuple[str, ...] = ()


WARM_UP = Round("warm-up", ("explain", "choice"), 0.12, COMMUNICATION)
DERIVE = Round("derivation", ("derive", "trace"), 0.12, DERIVATION)
CODE = Round("code", ("code", "kernel"), 0.42, CORRECTNESS)
_SYSTEMS = ("attention-cost", "kv-cache", "kv-sharing", "flash-attention", "generation", "kernels")
ARITHMETIC = Round("systems", ("compute", "choice"), 0.14, SYSTEMS, _SYSTEMS)
DEBUG = Round("debugging", ("debug",), 0.20, DEBUGGING)
ROUNDS = (WARM_UP, DERIVE, CODE, ARITHMETIC, DEBUG)
_SHORT = 25  # minutes: less is no time for every round
_SHORT_ROUNDS = (WARM_UP, CODE, ARITHMETIC)


@dataclass(frozen=True)
class Role:
    """`topics` are asked about, those first that the role lives by; `starts` are the code problems
    that an interview of it begins with; `weights` say what its loop looks at."""

    name: str
    topics: tuple[str, ...]
    starts: tuple[str, ...]
    weights: dict[str, float]

    @property
    def core(self) -> tuple[str, ...]:
        """The topics that it is asked most about."""
        return self.topics[:5]


def _weights(correctness: int, derivation: int, systems: int, debugging: int) -> dict[str, float]:
    return {
        CORRECTNESS: correctness,
        DERIVATION: derivation,
        SYSTEMS: systems,
        DEBUGGING: debugging,
        COMMUNICATION: 2,
        PACE: 1,
    }


ROLES = {
    role.name: role
    for role in (
        Role(
            "inference",
            ("kv-cache", "kv-sharing", "generation", "attention-cost", "positions", "masking",
             "flash-attention", "attention", "multi-head", "debugging"),
            ("causal-mha", "attention", "causal-mask"),
            _weights(4, 1, 4, 3),
        ),
        Role(
            "training",
            ("attention", "softmax", "multi-head", "masking", "debugging", "attention-cost",
             "positions", "flash-attention"),
            ("causal-mha", "attention", "stable-softmax"),
            _weights(4, 3, 2, 4),
        ),
        Role(
            "research",
            ("softmax", "attention", "positions", "linear-attention", "latent-attention",
             "kv-sharing", "multi-head", "masking", "attention-cost", "debugging"),
            ("causal-mha", "attention", "stable-softmax"),
            _weights(3, 4, 2, 2),
        ),
        Role(
            "kernel",
            ("flash-attention", "kernels", "softmax", "attention-cost", "kv-cache", "kv-sharing",
             "attention", "debugging"),
            ("online-softmax", "stable-softmax"),
            _weights(4, 2, 4, 3),
        ),
    )
}  # fmt: skip


def agenda(minutes: int) -> list[tuple[Round, float]]:
    """The rounds of an interview of so many minutes, each with the second at which it is to end."""
    rounds = _SHORT_ROUNDS if minutes <= _SHORT else ROUNDS
    whole = sum(part.share for part in rounds)
    ends, total = [], 0.0
    for part in rounds:
        total += part.share / whole * minutes * 60
        ends.append((part, total))
    return ends


def competency(kind: str, part: Round) -> str:
    """What an answer to a question of `kind`, asked in a round, is evidence for."""
    return _BY_KIND.get(kind, part.competency)


def round_named(name: str) -> Round:
    return next(part for part in ROUNDS if part.name == name)


def is_code(kind: str) -> bool:
    return kind in CODE_KINDS
