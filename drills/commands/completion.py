"""drill completion: the script that completes commands in a shell."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")

# The shell that reads the script decides: another bash may come first on the path.
_BASH = """\
if (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404 )); then
    echo "drill completes from bash 4.4 on; this is bash $BASH_VERSION." >&2
else
{script}
fi
"""
# Evaluated before compinit ran, there would be nothing to register the script with.
_ZSH = """\
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
"""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), metavar="|".join(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that completes drill's commands in your shell.

    \b
    bash  eval "$(drill completion bash)"      in ~/.bashrc
    zsh   eval "$(drill completion zsh)"       in ~/.zshrc
    fish  drill completion fish | source       in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(ctx.find_root().command, {}, "drill", "_DRILL_COMPLETE")
    script = str(made.source_template % made.source_vars()).strip()
    if shell == "bash":
        script = _BASH.format(script=script).rstrip()
    elif shell == "zsh":
        head, _, rest = script.partition("\n")  # "#compdef drill" comes first
        script = f"{head}\n{_ZSH}{rest}"
    else:  # a description may hold commas
        script = script.replace('string split ","', 'string split --max 1 ","')
    click.echo(script)
    return 0
