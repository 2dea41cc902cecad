"""Opening the database: migrations, a newer one refused, a corrupt one set aside, read-only homes.

Where nothing can be written, the same tables live in memory for the length of the command, so
that everything but remembering works.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from drills import clock
from drills.errors import UNUSABLE, DrillError
from drills.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

BUSY_SECONDS = 10.0
NAME = "drill.db"
_ROOM = 1 << 17  # bytes: less than SQLite wants for the files beside a database


@dataclass
class Opened:
    """A usable connection. `unrecorded` says why nothing is kept, `unread` that what was kept
    before could not be read either; `set_aside` is where a corrupt database went."""

    connection: sqlite3.Connection
    unrecorded: str = ""
    unread: bool = False
    set_aside: Path | None = None


def is_corrupt(error: sqlite3.Error) -> bool:
    """True where the file itself is damaged, as against busy, full or read-only."""
    text = str(error)
    # A report that is no JSON to this SQLite is called malformed too: the file is sound.
    damaged = "malformed" in text and "JSON" not in text
    return damaged or "not a database" in text or "disk image" in text


def why_unwritable(error: sqlite3.Error, path: Path) -> str:
    """What keeps the sound database at `path` from being written, "" where nothing does."""
    text = str(error)
    refused = any(words in text for words in ("disk I/O", "readonly", "unable to open"))
    # The files beside a database are mapped: what finds no room for them calls it otherwise.
    if "full" in text or (refused and shutil.disk_usage(path.parent).free < _ROOM):
        return f"the disk that holds {path} is full"
    return f"{path} cannot be written ({text})" if refused else ""


def open_database(folder: Path) -> Opened:
    """Open or make `folder`/drill.db. Raises DrillError (exit 4) where it must not be touched."""
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        return in_memory(None, f"{folder} cannot be made ({error.strerror})")
    if not os.access(folder, os.X_OK):
        return in_memory(path, f"{folder} cannot be entered")
    if path.is_dir():
        return in_memory(None, f"{path} is a folder")
    writable = os.access(folder, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
    if not writable:
        return in_memory(path, f"{folder} is read-only")
    try:
        return Opened(_open_writable(path))
    except sqlite3.DatabaseError as error:
        if is_corrupt(error):
            moved = set_aside(path)
            return Opened(_open_writable(path), set_aside=moved)
        reason = why_unwritable(error, path)
        if reason:
            return in_memory(path, reason)
        raise


def set_aside(path: Path) -> Path:
    """Rename a corrupt database, and what belongs to it, to drill.db.corrupt-<time>."""
    stamp = clock.now().strftime("%Y%m%dT%H%M%S%f")
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
    return target


def _open_writable(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a finished attempt outlives a power cut
        _check_owner(connection, path)
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    connection.row_factory = sqlite3.Row
    return connection


def in_memory(copy_of: Path | None, reason: str) -> Opened:
    """A database for the length of the command, with what can still be read of `copy_of`."""
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    unread = False
    if copy_of is not None:
        try:
            unread = copy_of.is_file() and not _copy_into(memory, copy_of)
        except OSError:
            unread = True
    _migrate(memory)
    memory.row_factory = sqlite3.Row
    return Opened(memory, reason, unread)


def _copy_into(memory: sqlite3.Connection, path: Path) -> bool:
    # A database that was closed cleanly has no WAL, and only then may it be called immutable.
    wal = path.with_name(path.name + "-wal")
    for option in ("mode=ro", "mode=ro&immutable=1"):
        if "immutable" in option and wal.exists() and wal.stat().st_size:
            continue
        try:
            source = sqlite3.connect(f"{path.as_uri()}?{option}", uri=True)
        except sqlite3.Error:
            continue
        try:
            _check_owner(source, path)
            source.backup(memory)
            return True
        except sqlite3.Error:
            continue
        finally:
            source.close()
    return False


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    # One statement, so one snapshot: another process may be making the tables just now.
    version, owner, tables = connection.execute(
        "SELECT (SELECT user_version FROM pragma_user_version),"
        " (SELECT application_id FROM pragma_application_id),"
        " (SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if tables and owner != APPLICATION_ID:
        raise DrillError(
            f"{path} is a database of another program, and was left alone: "
            "point DRILL_HOME at another folder.",
            UNUSABLE,
        )
    if version > VERSION:
        raise DrillError(
            f"{path} was written by a newer drill (schema {version}; this one reads up to "
            f"{VERSION}), and was left alone: upgrade drill, or point DRILL_HOME elsewhere.",
            UNUSABLE,
        )


def _migrate(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have migrated meanwhile.
        done = connection.execute("PRAGMA user_version").fetchone()[0]
        for number in range(done, VERSION):
            for statement in _statements(MIGRATIONS[number]):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    # executescript would commit before it starts; a migration is one transaction.
    statements, pending = [], ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
