"""Where all state lives: DRILL_HOME, else the platform's place for user data."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The folder of the database, the index cache and the fallback workspace; maybe not there."""
    chosen = os.environ.get("DRILL_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("drill", appauthor=False)


def cache_dir() -> Path:
    """Where the validated index of the bank is kept."""
    return home() / "cache"


def settle_matplotlib() -> None:
    """Before matplotlib is imported: its list of fonts is kept here too, and where it cannot be,
    that is nothing to tell a learner of."""
    import logging

    os.environ.setdefault("MPLCONFIGDIR", str(cache_dir() / "matplotlib"))
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
