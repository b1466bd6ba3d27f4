"""`sk-cli completion`: the script that a shell evaluates, so that Tab knows our words."""

import click

from sk_cli.completing import completed
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, OneOf
from sk_cli.words import t

_HOW = {
    "bash": "echo 'eval \"$(sk-cli completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(sk-cli completion zsh)\"' >> ~/.zshrc",
    "fish": "sk-cli completion fish > ~/.config/fish/completions/sk-cli.fish",
}


@click.command(cls=Command, help="help.completion")
@click.argument("shell", type=OneOf(list(_HOW)))
@pass_invocation
def command(told: Invocation, *, shell: str) -> int:
    ended = completed(click.get_current_context().find_root().command, f"{shell}_source")
    told.detail(t("completion.how", how=_HOW[shell]))
    return ended
