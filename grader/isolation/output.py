"""What a submission prints, as the judge keeps it."""

from __future__ import annotations

from grader.isolation.slab import clean

KEPT_BYTES = 8 << 10


class Output:
    """What a submission prints: counted over its life, the first and last 8 KiB of each call."""

    def __init__(self) -> None:
        self.total = 0
        self.begin()

    def begin(self) -> None:
        self.head, self.tail, self.here = b"", b"", 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        self.here += len(data)
        room = KEPT_BYTES - len(self.head)
        self.head += data[:room] if room > 0 else b""
        self.tail = (self.tail + data)[-KEPT_BYTES:]

    def text(self) -> str:
        left_out = self.here - len(self.head) - len(self.tail)
        if left_out > 0:
            return f"{clean(self.head)}\n[... {left_out} bytes left out ...]\n{clean(self.tail)}"
        rest = self.here - len(self.head)
        return clean(self.head + (self.tail[-rest:] if rest else b""))
