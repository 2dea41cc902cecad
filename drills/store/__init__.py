"""What is remembered: every attempt, review and event, and the cards that follow from them."""

from __future__ import annotations

from drills.store.rows import Attempt, Card, Event, Review, new_uuid
from drills.store.store import Store

__all__ = ["Attempt", "Card", "Event", "Review", "Store", "new_uuid"]
