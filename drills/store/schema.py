"""The database's tables, as numbered migrations. Never edit one that was released: add the next.

attempts, reviews and events are facts and only ever grow; `cards` is a cache of the reviews, and
`mistakes` one of the attempts' reports.
"""

from __future__ import annotations

APPLICATION_ID = 0x4452494C  # "DRIL", so that a stranger's database is never taken for ours

FACTS = ("attempts", "reviews", "events")

_TABLES = """
CREATE TABLE attempts (
  uuid TEXT NOT NULL PRIMARY KEY,
  question TEXT NOT NULL,
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL,
  seed INTEGER,
  verdict TEXT NOT NULL,
  score REAL NOT NULL,
  report TEXT NOT NULL,
  source TEXT NOT NULL,
  at TEXT NOT NULL,
  seconds REAL,
  hints_seen INTEGER NOT NULL
);
CREATE INDEX attempts_by_question ON attempts (question, at);
CREATE TABLE reviews (
  uuid TEXT NOT NULL PRIMARY KEY,
  question TEXT NOT NULL,
  at TEXT NOT NULL,
  rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 4),
  reason TEXT NOT NULL,
  attempt TEXT
);
CREATE INDEX reviews_by_question ON reviews (question, at);
CREATE TABLE events (
  uuid TEXT NOT NULL PRIMARY KEY,
  question TEXT NOT NULL,
  name TEXT NOT NULL,
  at TEXT NOT NULL,
  seed INTEGER,
  detail TEXT NOT NULL
);
CREATE INDEX events_by_question ON events (question, at);
CREATE TABLE cards (
  question TEXT NOT NULL PRIMARY KEY,
  due TEXT NOT NULL,
  last_review TEXT NOT NULL,
  reviews INTEGER NOT NULL,
  lapses INTEGER NOT NULL,
  card TEXT NOT NULL
);
"""


def _guards() -> str:
    statements = []
    for table in FACTS:
        for verb in ("UPDATE", "DELETE"):
            statements.append(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} only ever grows'); END;"
            )
    return "\n".join(statements)


# What is counted must not be looked for in reports: ten thousand of them are 50 MB to read. So the
# index by question holds all of an attempt but its report and source, and mistakes have a table.
# What Python writes as JSON may hold NaN, which SQLite takes only from 3.42 on.
_COUNTING = """
CREATE INDEX attempts_in_short ON attempts
  (question, at, uuid, kind, verdict, score, seed, seconds, hints_seen);
DROP INDEX attempts_by_question;
CREATE INDEX events_by_name ON events (name, question, at);
CREATE TABLE mistakes (
  attempt TEXT NOT NULL,
  place INTEGER NOT NULL,
  question TEXT NOT NULL,
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  id TEXT,
  title TEXT,
  PRIMARY KEY (attempt, place)
) WITHOUT ROWID;
CREATE TRIGGER attempts_mistakes AFTER INSERT ON attempts BEGIN
  INSERT INTO mistakes SELECT new.uuid, m.key, new.question, new.kind, new.at,
    json_extract(m.value, '$.id'), json_extract(m.value, '$.title')
  FROM json_each(iif(json_valid(new.report), new.report, '{}'), '$.mistakes') AS m
  WHERE m.type = 'object';
END;
INSERT INTO mistakes SELECT uuid, m.key, question, kind, at,
  json_extract(m.value, '$.id'), json_extract(m.value, '$.title')
FROM attempts, json_each(iif(json_valid(attempts.report), attempts.report, '{}'), '$.mistakes') AS m
WHERE m.type = 'object';
"""

MIGRATIONS: tuple[str, ...] = (_TABLES + _guards(), _COUNTING)
VERSION = len(MIGRATIONS)

COLUMNS: dict[str, dict[str, tuple[type, ...]]] = {
    "attempts": {
        "uuid": (str,),
        "question": (str,),
        "revision": (int,),
        "kind": (str,),
        "seed": (int, type(None)),
        "verdict": (str,),
        "score": (float, int),
        "report": (str,),
        "source": (str,),
        "at": (str,),
        "seconds": (float, int, type(None)),
        "hints_seen": (int,),
    },
    "reviews": {
        "uuid": (str,),
        "question": (str,),
        "at": (str,),
        "rating": (int,),
        "reason": (str,),
        "attempt": (str, type(None)),
    },
    "events": {
        "uuid": (str,),
        "question": (str,),
        "name": (str,),
        "at": (str,),
        "seed": (int, type(None)),
        "detail": (str,),
    },
}
