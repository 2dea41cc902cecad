"""What is wrong with the bank, and where. Thin: serving imports it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Finding:
    """One thing to mend. `line` and `column` count from 1; `message` is one sentence."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class BankError(Exception):
    """A bank, or a file of it, that cannot be used; `findings` holds every reason, in order."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = sorted(set(findings))
        super().__init__("\n".join(str(finding) for finding in self.findings))
