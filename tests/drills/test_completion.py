"""Completion in the shells themselves, of a `drill` that is on the path."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Drill

HEAVY = ("torch", "numpy", "matplotlib", "sympy", "pydantic", "yaml", "jinja2")

BASH = """
eval "$(drill completion bash)"
complete -p drill
compopt() { echo "${@: -1}"; }
press() {
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
    _drill_completion drill
    echo "${COMPREPLY[@]}"
}
"""
ZSH = """
compdef() { print compdef $*; }
eval "$(drill completion zsh)"
_describe() { print -l -- ${(P)3}; }
compadd() { print -l -- ${(P)5}; }
_path_files() { print _path_files $*; }
press() { words=($@); CURRENT=$#; _drill_completion; }
"""
FISH = """
drill completion fish | source
function press; complete -C (string join " " -- $argv); end
"""


@pytest.fixture
def shell(drill: Drill, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs lines in a shell, where `press WORD...` is the TAB key behind these words."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "drill"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m drills "$@"\n')
    command.chmod(0o755)
    path = f"{folder}:{drill.env['PATH']}"

    def run(name: str, lines: str) -> subprocess.CompletedProcess[str]:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed here")
        bare = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
        return subprocess.run(
            [name, *bare, "-c", lines], cwd=drill.work, env={**drill.env, "PATH": path},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return run


def test_bash_completes_verbs_problems_and_cases(shell):
    ran = shell(
        "bash",
        f"{BASH}\npress drill la; press drill show kv-cache-\n"
        "press drill grade causal-mask --case s; press drill grade causal-mask x",
    )
    assert ran.stderr == ""
    registered, verb, problems, cases, file = ran.stdout.split("\n")[:5]
    assert registered == "complete -o nosort -F _drill_completion drill"
    assert verb == "lab"
    assert set(problems.split()) == {"kv-cache-size", "kv-cache-decode"}
    assert "square" in cases.split()
    assert file == "default"  # a file, which bash finds itself


def test_an_old_bash_gets_one_sentence(shell):
    ran = shell("bash", 'eval "$(drill completion bash | sed s/404/9999/)"; type _drill_completion')
    told, missing = ran.stderr.strip().split("\n")
    assert told.startswith("drill completes from bash 4.4 on; this is bash ")
    assert "not found" in missing


def test_zsh_shows_titles(shell):
    ran = shell("zsh", f"{ZSH}\npress drill show kv-cache-; press drill list --topic kv-")
    assert ran.stderr == ""
    assert "compdef _drill_completion drill" in ran.stdout
    assert "kv-cache-size:KV cache size" in ran.stdout.split("\n")
    assert "kv-sharing" in ran.stdout.split("\n")


def test_fish_shows_titles_with_their_commas(shell):
    ran = shell("fish", f"{FISH}\npress drill grade causal-mask --case s; press drill skip kv-")
    assert ran.stderr == ""
    assert "square\tfive tokens, no past" in ran.stdout.split("\n")
    assert "kv-cache-size\tKV cache size" in ran.stdout.split("\n")


def complete(drill: Drill, line: str, **env: str) -> tuple[str, str]:
    """What bash is told behind `line`, and what goes to standard error."""
    asked = {"_DRILL_COMPLETE": "bash_complete", "COMP_WORDS": line}
    ran = drill(**asked, COMP_CWORD=str(len(line.split(" ")) - 1), **env)
    return ran.out.strip(), ran.err


def test_a_broken_bank_or_line_completes_to_nothing(drill: Drill, tmp_path: Path):
    (tmp_path / "attention").mkdir()
    (tmp_path / "attention" / "broken.yaml").write_text("id: [")
    broken = {"DRILL_BANK": str(tmp_path)}
    for line in ("drill show ", "drill list --topic ", "drill grade attention --case "):
        assert complete(drill, line, **broken) == ("", "")
    for line in ("drill nonsense ", "drill --bank /nowhere show ", "drill grade nope --case "):
        assert complete(drill, line)[1] == ""


def test_a_verb_offers_the_problems_that_it_takes(drill: Drill):
    assert "attention-by-hand" not in complete(drill, "drill grade attention")[0]
    assert "attention-by-hand" in complete(drill, "drill answer attention")[0]
    assert "plain,attention\n" not in complete(drill, "drill answer attention")[0] + "\n"


def test_completing_imports_nothing_heavy(drill: Drill):
    out, err = complete(drill, "drill show kv-", PYTHONPROFILEIMPORTTIME="1")
    assert "kv-cache-size" in out
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in err.splitlines()}
    assert "click" in imported
    assert not imported & set(HEAVY)
