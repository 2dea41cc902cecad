"""Pages that are whole in themselves: one HTML file, without script or anything from elsewhere."""

from __future__ import annotations

from drills.html.pages import check, page, write

__all__ = ["check", "page", "write"]
