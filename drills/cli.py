"""The `drill` command. A verb is imported only when it is called; a failure is one sentence."""

from __future__ import annotations

import codecs
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from drills.errors import GRADER_ERROR, INTERRUPTED, UNUSABLE, USAGE, DrillError

BROKEN_PIPE = 141  # what a shell reports for any program whose reader went away

_PLAIN_SIGNS = str.maketrans(
    {"✓": "+", "✗": "x", "█": "#", "░": ".", "·": "-", "–": "-", "—": "-", "−": "-", "…": "."}
    | {"←": "<", "→": ">", "“": '"', "”": '"', "‘": "'", "’": "'", "×": "x", "≤": "<", "±": "~"}
    | {"│": "|", "┤": "+", "└": "+", "─": "-", "┬": "+", "√": "V", "Σ": "S", "µ": "u"}
)

# Each line of the help: verbs, and what they do. A verb's module is its name in drills/commands/.
HELP: tuple[tuple[tuple[str, ...], str], ...] = (
    (("next",), "serve what is due, else what is new"),
    (("show", "list"), "one problem; the bank, with status and due dates"),
    (("start",), "write the starter file of a code problem"),
    (("grade", "answer"), "grade a file; grade an answer that is not code"),
    (("watch",), "grade a file each time it is saved"),
    (("hint", "solution"), "the next hint; the commented solution, which is giving up"),
    (("skip", "reset"), "put a problem off until tomorrow; a fresh start for it"),
    (("mock",), "a mock interview with a clock, and its debrief"),
    (("stats", "report"), "progress here; progress as one HTML file"),
    (("plan",), "a study plan until the day of an interview"),
    (("lab",), "measure on this machine: plots, and questions on them"),
    (("bank",), "banks of problems: check, trust, schema, new"),
    (("doctor",), "versions, isolation, database, bank"),
    (("completion",), "the script that completes commands in your shell"),
    (("export", "import"), "all progress as JSON; progress from an export, merged in"),
)
VERBS = tuple(verb for verbs, _ in HELP for verb in verbs)


class LazyGroup(click.Group):
    """Knows its verbs by name; imports drills.commands.<verb> when one is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        name = "import_" if cmd_name == "import" else cmd_name  # a keyword is no module's name
        module = importlib.import_module(f"drills.commands.{name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        completing = ctx.resilient_parsing
        if word not in VERBS and not word.startswith("-") and not completing:
            raise DrillError(_no_such_command(word), USAGE)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("Usage: drill [--bank DIR] COMMAND [OPTIONS] [ARGUMENTS]\n\n")
        formatter.write("Practice for interviews on attention and LLM inference.\n\n")
        for verbs, about in HELP:
            formatter.write(f"  {', '.join(verbs):<18}{about}\n")
        formatter.write("\n--bank DIR, or DRILL_BANK: another bank; drill bank trust DIR first.\n")
        formatter.write("DRILL_HOME moves all state. drill COMMAND --help says more. ")
        formatter.write("Begin:  drill next\n")


def _no_such_command(word: str) -> str:
    from drills.app import near_misses
    from drills.screen.safe import one_line

    near = near_misses(word, VERBS)
    shown = one_line(word, 40)
    if near:
        return f'There is no command "{shown}". Did you mean {near[0]}?'
    return f'There is no command "{shown}": drill --help lists them.'


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"drill {version('attention-drill')}")
        except PackageNotFoundError:
            click.echo("drill, from source, not installed")
        ctx.exit()


def _folders(
    _ctx: click.Context, _param: click.Parameter, typed: str
) -> list[click.shell_completion.CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(typed, type="dir")]  # the shell finds them


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True)
@click.option("--bank", metavar="DIR", envvar="DRILL_BANK", shell_complete=_folders)
@click.pass_context
def cli(ctx: click.Context, bank: str | None) -> None:
    """Practice for interviews on attention and LLM inference."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        return
    from drills.app import App

    app = App(Path(bank).expanduser() if bank else None)
    ctx.obj = app
    ctx.call_on_close(app.close)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; no failure shows a traceback."""
    _open_standard_streams()
    codecs.register_error("drill", _in_plain_signs)
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "drill"), (sys.stderr, "drill")):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=errors)
    code = run(arguments)
    if code == BROKEN_PIPE:
        # Python flushes standard output once more at exit, and would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


def _open_standard_streams() -> None:
    """Where the caller closed one (>&-), nothing else may be opened in its place."""
    if sys.stdin and sys.stdout and sys.stderr:
        return
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    """The error handler of a terminal that lacks UTF-8: each sign by one that means the same."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import unicodedata

    text = error.object[error.start : error.end]
    plain = unicodedata.normalize("NFKD", text.translate(_PLAIN_SIGNS))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return plain.encode("ascii", "replace").decode(), error.end


def run(arguments: Sequence[str] | None) -> int:
    """Run one command and return its exit code; a failure is said on standard error."""
    words = None if arguments is None else list(arguments)
    return guarded(lambda: cli.main(words, prog_name="drill", standalone_mode=False))


def guarded(work: Callable[[], object]) -> int:
    """The exit code that `work` returns, else 0; a failure is one sentence, and its code."""
    try:
        result = work()
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as leaving:  # --help
        return leaving.exit_code
    except DrillError as error:
        return _fail(str(error), error.code)
    except click.UsageError as error:
        return _misused(error)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        if os.environ.get("DRILL_DEBUG"):
            raise
        place = f" ({error.filename})" if error.filename else ""
        return _fail(f"The system refused: {error.strerror or error}{place}.", UNUSABLE)
    except Exception as error:
        if os.environ.get("DRILL_DEBUG"):
            raise
        return _fail(
            f"drill hit a fault of its own (not yours): {type(error).__name__}: {error}\n"
            "DRILL_DEBUG=1 shows the details.",
            GRADER_ERROR,
        )


def _misused(error: click.UsageError) -> int:
    """One sentence, and how the command is meant to be called."""
    if error.ctx is None or type(error).__name__ == "NoArgsIsHelpError":  # new in click 8.2
        error.show()
        return USAGE
    usage = error.ctx.get_usage().removeprefix("Usage: ")
    return _fail(f"{error.format_message()}\nUsage: {usage}   (--help says more)", USAGE)


def _fail(message: str, code: int) -> int:
    from drills.screen.safe import safe

    print(safe(message), file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
