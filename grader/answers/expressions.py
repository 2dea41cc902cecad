"""Expressions as people type them, read into a tree of a few allowed nodes.

Plain text, Python, Unicode and simple LaTeX are read alike. Nothing is evaluated: a tokenizer and
a recursive descent of our own build the tree; what it means is `algebra`'s business. A name is
one of those that the question lists, whole (`d_k`, also `dk` and `d_{k}`), or side by side where
there is one way to take it apart (`4BhSD`). What can be read in two ways is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from grader.answers import notation
from grader.answers.reading import Unreadable, shown
from grader.answers.tree import Node, constant

LENGTH = 400
_TOKENS = 250
_DEPTH = 30
_EXPONENT = 64
_FUNCTIONS = {"sqrt": 1, "exp": 1, "log": 1, "ln": 1, "rsqrt": 1, "max": 2, "min": 2, "pow": 2}
_SPOKEN = {"zero": ("number", "0"), "one": ("number", "1")}

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+(?![A-Za-z_]))?)"
    r"|(?P<word>[A-Za-z][A-Za-z0-9_]*)|(?P<sign>\*\*|[-+*/^(){}\[\],√·×⋅∙])"
)
_OPEN = {"(": ")", "[": "]", "{": "}"}
_TIMES = ("*", "·", "×", "⋅", "∙")
_BEFORE_VALUE = (*"([{+-*/^,√·×⋅∙", "**")


_E = Node("exp", (Node("num", value="1"),))


@dataclass(frozen=True)
class _Token:
    kind: str  # number, word, sign, end
    text: str
    spaced: bool  # white space stands before it


def parse(text: str, symbols: Mapping[str, str] | Iterable[str]) -> Node:
    """The tree of `text`; of a chain of equalities, that of the last part.

    `symbols` are the names that may be used, as {name: meaning} where the meaning is known.
    Raises Unreadable with one sentence that says what to write.
    """
    meanings = dict(symbols) if isinstance(symbols, Mapping) else dict.fromkeys(symbols, "")
    source = notation.last_of_chain(notation.written_plainly(text, LENGTH, meanings))
    if not source:
        raise Unreadable("An expression is missing: write one a line, such as 1/sqrt(d_k).")
    return _Parser(_tokens(source, meanings), meanings).whole()


def _tokens(text: str, meanings: dict[str, str]) -> list[_Token]:
    tokens: list[_Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unreadable(_foreign(text[at:]))
        at = match.end()
        if match.lastgroup == "space":
            spaced = True
            continue
        kind, word = str(match.lastgroup), match[0]
        if kind == "word" and word not in meanings:
            kind, word = _SPOKEN.get(word, (kind, word))
            if word in ("x", "X") and tokens and tokens[-1].text not in _BEFORE_VALUE:
                kind, word = "sign", "*"
        tokens.append(_Token(kind, word, spaced))
        spaced = False
        if len(tokens) > _TOKENS:
            raise Unreadable("The expression is too long to read: simplify it.")
    return [*tokens, _Token("end", "", spaced)]


def _foreign(rest: str) -> str:
    if rest.startswith("\\"):
        command = re.match(r"\\[A-Za-z]*", rest)
        name = command[0] if command else "\\"
        return f"“{shown(name)}” is not read here: write the result with + - * / ^ sqrt exp max."
    if rest[0] in "≈~":
        return "An exact expression is asked for: leave out the approximate value."
    return f"“{shown(rest[0])}” is not read here: use names, numbers, + - * / ^ sqrt exp max min."


class _Parser:
    def __init__(self, tokens: list[_Token], meanings: dict[str, str]) -> None:
        self.tokens = tokens
        self.meanings = meanings
        self.at = 0
        self.depth = 0
        self.run = 1  # factors of the last atom: more than one for names side by side

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def accept(self, *texts: str) -> str:
        if self.next.kind == "sign" and self.next.text in texts:
            self.at += 1
            return self.tokens[self.at - 1].text
        return ""

    def whole(self) -> Node:
        node = self.sum()
        if self.next.kind != "end":
            extra = self.next.text
            if extra in _OPEN.values():
                raise Unreadable(f"A bracket too many, at “{extra}”: count the brackets.")
            raise Unreadable(f"“{shown(extra)}” is not expected there: write one expression.")
        return node

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > _DEPTH:
            raise Unreadable("The expression nests too deeply: simplify it.")
        node = self.product()
        while sign := self.accept("+", "-"):
            node = Node("add" if sign == "+" else "sub", (node, self.product()))
        self.depth -= 1
        return node

    def product(self) -> Node:
        node = self.signed()
        while True:
            if self.accept(*_TIMES):
                node = Node("mul", (node, self.signed()))
            elif self.accept("/"):
                node = Node("div", (node, self.signed()))
                if self.starts_atom() or self.run > 1:
                    raise Unreadable(
                        "A division followed by a product without a sign can be read in two ways:"
                        " write a/(b*c) or (a/b)*c."
                    )
            elif self.starts_atom():
                if self.next.kind == "number":
                    raise Unreadable(
                        f"“{shown(self.next.text)}” follows without a sign: write * before a"
                        " number, or ^ for a power."
                    )
                node = Node("mul", (node, self.power()))
            else:
                return node

    def starts_atom(self) -> bool:
        token = self.next
        return token.kind in ("number", "word") or token.text in (*_OPEN, "√")

    def signed(self) -> Node:
        signs = 0
        negative = False
        while sign := self.accept("-", "+"):
            negative ^= sign == "-"
            signs += 1
            if signs > 3:
                raise Unreadable("Too many signs in a row: write one.")
        node = self.power()
        return Node("neg", (node,)) if negative else node

    def power(self) -> Node:
        base = self.atom()
        if not self.accept("^", "**"):
            return base
        self.depth += 1
        if self.depth > _DEPTH:
            raise Unreadable("The expression nests too deeply: simplify it.")
        exponent = self.exponent()
        self.depth -= 1
        if self.run > 1:
            raise Unreadable("How far the power reaches is not clear: write a^(b*c) or (a^b)*c.")
        if base == _E:
            return Node("exp", (exponent,))
        return _power(base, exponent)

    def atom(self) -> Node:
        token = self.next
        node: Node | None = None
        factors = 1
        if token.kind == "number":
            self.at += 1
            node = _number(token.text)
        elif token.text == "√":
            self.at += 1
            node = self.root()
        elif token.text in _OPEN:
            node = self.bracket()
        elif token.kind == "word":
            self.at += 1
            node, factors = self.word(token.text)
        self.run = factors
        if node is not None:
            return node
        place = "the end" if token.kind == "end" else f"“{shown(token.text)}”"
        raise Unreadable(f"Something is missing before {place}: write the whole expression.")

    def bracket(self) -> Node:
        closing = _OPEN[self.accept(*_OPEN)]
        node = self.sum()
        self.close(closing)
        return node

    def close(self, closing: str) -> None:
        if not self.accept(closing):
            raise Unreadable(f"A bracket is not closed: “{closing}” is missing.")

    def word(self, run: str) -> tuple[Node, int]:
        """What a run of letters stands for, and of how many factors it is made."""
        if run == "frac":
            if self.next.text not in _OPEN:
                raise Unreadable(r"\frac needs two brackets: write \frac{a}{b}.")
            top = self.bracket()
            if self.next.text not in _OPEN:
                raise Unreadable(r"\frac needs two brackets: write \frac{a}{b}.")
            return Node("div", (top, self.bracket())), 1
        if run.lower() in _FUNCTIONS and run not in self.meanings:
            return self.call(run.lower()), 1
        if run == "e" and run not in self.meanings:
            return _E, 1
        names = self.segments(run)
        function = names.pop() if names[-1] in _FUNCTIONS else ""
        # A power belongs to the last name alone: 24 d T^2 is 24 d (T^2).
        *front, last = names or [""]
        factors = [Node("sym", value=name) for name in front]
        if last:
            symbol = Node("sym", value=last)
            factors.append(self.raised(symbol) if front else symbol)
        if function:
            factors.append(self.raised(self.call(function)))
        node = factors[0]
        for factor in factors[1:]:
            node = Node("mul", (node, factor))
        return node, len(factors)

    def raised(self, base: Node) -> Node:
        """The last factor of a run of names, with the power that follows it."""
        if not self.accept("^", "**"):
            return base
        return _power(base, self.exponent())

    def exponent(self) -> Node:
        """What follows a `^`. Nobody writes x^1: x^1/2 is a root to most, and x/2 by the rule."""
        start = self.at
        exponent = self.signed()
        typed = [token.text for token in self.tokens[start : self.at]]
        over = self.tokens[self.at + 1] if self.next.text == "/" else None
        if typed in (["1"], ["-", "1"]) and over is not None and over.kind == "number":
            power = "".join([*typed, "/", over.text])
            raise Unreadable(f"“^{power}” can be read in two ways: write ^({power}) for the power.")
        return exponent

    def call(self, name: str) -> Node:
        if name == "sqrt" and self.next.text not in _OPEN:
            return self.root()
        if self.next.text not in _OPEN:
            raise Unreadable(f"{name} needs brackets: write {name}(…).")
        closing = _OPEN[self.accept(*_OPEN)]
        args = [self.sum()]
        while self.accept(","):
            args.append(self.sum())
        self.close(closing)
        wanted = _FUNCTIONS[name]
        if len(args) != wanted and not (name in ("max", "min") and len(args) > 2):
            number = ("one value", "two values")[wanted - 1]
            example = "a" if wanted == 1 else "a, b"
            raise Unreadable(f"{name} takes {number}: write {name}({example}).")
        if name == "pow":
            return _power(*args)
        if name == "rsqrt":
            return Node("div", (Node("num", value="1"), Node("sqrt", tuple(args))))
        return Node("log" if name == "ln" else name, tuple(args))

    def root(self) -> Node:
        """A root without brackets takes one name or number; more could be meant two ways."""
        if self.next.text in _OPEN:
            return Node("sqrt", (self.bracket(),))
        if self.next.kind not in ("number", "word"):
            raise Unreadable("The root of what? Write, for example, sqrt(d_k).")
        inside = self.atom()
        joined = self.starts_atom() and not self.next.spaced
        if joined or self.next.text in ("^", "**") or inside.op not in ("sym", "num"):
            raise Unreadable("How far the root reaches is not clear: write sqrt(…) with brackets.")
        return Node("sqrt", (inside,))

    def segments(self, run: str) -> list[str]:
        """The names that `run` is made of, in order; the last may be a function."""
        known = set(self.meanings)
        if run in known:
            return [run]
        # d_k may lose its underscore, alone and among others: -pipj.
        short = {name.replace("_", ""): name for name in known}
        ways = [
            [short.get(name, name) for name in way]
            for way in _ways(run, known | short.keys() | set(_FUNCTIONS))
        ]
        calls = self.next.text in _OPEN
        ways = [
            way
            for way in ways
            if not any(name in _FUNCTIONS and name not in known for name in way[:-1])
            and (calls or way[-1] in known)
        ]
        if len(ways) > 1:
            options = [" * ".join(way) for way in ways]
            raise Unreadable(
                f"“{shown(run)}” can be read as {options[0]} or {options[1]}: put signs between."
            )
        if ways:
            return ways[0]
        raise Unreadable(self.unknown(run))

    def unknown(self, run: str) -> str:
        names = list(self.meanings)
        listed = ", ".join(names) or "numbers only"
        folded = {name.lower(): name for name in names}
        near = [folded[run.lower()]] if run.lower() in folded else get_close_matches(run, names, 1)
        message = f"“{shown(run)}” is not a name known here: use {listed}."
        if near:
            meaning = self.meanings[near[0]]
            message += f" Did you mean {near[0]}{f' ({meaning})' if meaning else ''}?"
        return message


def _ways(run: str, names: set[str]) -> list[list[str]]:
    """Up to three ways to take `run` apart into `names`; an underscore never starts one."""
    ways: list[list[list[str]]] = [[] for _ in range(len(run) + 1)]
    ways[0].append([])
    for end in range(1, len(run) + 1):
        for name in names:
            start = end - len(name)
            if start >= 0 and run.startswith(name, start):
                ways[end] += [[*way, name] for way in ways[start]]
        ways[end] = ways[end][:3]
    return ways[-1]


def _number(text: str) -> Node:
    digits = text.replace("_", "")
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) > 30 or len(exponent) > 4 or abs(int(exponent or 0)) > 60:
        raise Unreadable("A number is too long to read: write it shorter.")
    return Node("num", value=digits.rstrip(".") or "0")


def _power(base: Node, exponent: Node) -> Node:
    size = constant(exponent)
    if size is not None and abs(size) > _EXPONENT:
        raise Unreadable(f"An exponent of more than {_EXPONENT} is not read: simplify it.")
    node = Node("pow", (base, exponent))
    value = constant(base)
    if value is not None and size is not None and not abs(constant(node) or 0) < 1e60:
        raise Unreadable("A power is too large to read: simplify it.")
    return node
