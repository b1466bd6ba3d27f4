"""The page about the command line, made from the commands themselves.

``python -m sk_cli.manual`` writes docs/cli.md, ``--check`` says whether it is stale. A tool of
development: nothing else imports it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from sk_cli import words
from sk_cli.invocation import Invocation
from sk_cli.main import COMMANDS, root
from sk_cli.options import Command
from sk_cli.words import t

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"

_HEAD = """\
# The command line

<!-- Generated from cli/sk_cli by `make gen`; don't edit. -->

`sk-cli` does all that the page does, and more for scripts. Data goes to stdout, talk to stderr.
Where a CHANNEL is asked for, say its name (`review` or `#review`), its id, or `@agent` for the
direct conversation with that agent. Case doesn't matter; a wrong name is answered with the nearest.

```
sk-cli send @alice "what does gateway.py do?" --wait        # the answer, as it comes
sk-cli send review "@alice read it, @bob comment" --wait --allow read,search
git diff | sk-cli send review - --wait                      # a text from stdin
sk-cli chat review                                          # sit in it and talk
sk-cli events --json -t 'permission:requested' --count 1    # wait for one, in a script
sk-cli permissions answer 500.0 1                           # by the end of its id, and a number
sk-cli history search deploy -a alice --since 7d
sk-cli doctor --agent alice                                 # why doesn't it start?
eval "$(sk-cli completion bash)"                            # Tab completes names, too
```

## For scripts

`--json` prints one document, or for streams one object a line, with the keys that the bus has
([reference](reference.md)). What people read may change from version to version and speaks their
language; JSON only grows. Nothing is asked where there is no terminal: what would ask wants
`--yes`. Colours are for terminals only, never with `NO_COLOR` or `TERM=dumb`, always with
`FORCE_COLOR`. What an agent wrote never controls a terminal: control characters are shown as
pictures. In a pipe an answer is byte for byte what the agent wrote.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | refused, or failed; stderr says why |
| 2 | the command line can't be understood |
| 3 | Sidekicks is not running (`sk-cli up`) |
| 4 | there is no such agent, channel, component, request |
| 5 | not done within `--timeout` |
| 6 | the configuration is invalid |
| 7 | running, but not as it should: a component is down, the history isn't kept |
| 130 | ended by Ctrl-C (0 for `events`, `logs -f` and what else goes on for ever) |

`events`, `logs`, `config path`, `config show` and `doctor` also work while nothing runs: the events
then come from the journal, which is only read.
"""


def manual() -> str:
    """The page."""
    words.speak("en")
    lines = [_HEAD, f"## {t('usage.common')}", "", *_options(Command.common), ""]
    with click.Context(root, info_name="sk-cli", obj=Invocation()) as ctx:
        for name in COMMANDS:
            command = root.get_command(ctx, name)
            assert command is not None, "each name has its module"
            with click.Context(command, info_name=name, parent=ctx) as below:
                lines += _section(command, below, "##")
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(command: click.Command, ctx: click.Context, level: str) -> Iterator[str]:
    yield from (f"{level} {ctx.command_path}", "", command.help or "", "")
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            assert child is not None, "it is in the list"
            with click.Context(child, info_name=name, parent=ctx) as below:
                yield from _section(child, below, level + "#")
        return
    pieces = " ".join(command.collect_usage_pieces(ctx))
    yield from ("```", f"{ctx.command_path} {pieces}", "```", "")
    own = [
        one
        for one in command.params
        if isinstance(one, click.Option) and one not in Command.common and not one.hidden
    ]
    if own:
        yield from (*_options(tuple(own)), "")


def _options(options: tuple[click.Option, ...]) -> list[str]:
    rows = []
    for one in options:
        record = one.get_help_record(click.Context(root))
        assert record is not None, "hidden ones are not in the list"
        named, said = (text.replace("|", "\\|") for text in record)
        rows.append(f"| `{named}` | {said} |")
    return ["| option | |", "| --- | --- |", *rows]


def main() -> None:
    """Write the page, or with ``--check`` say whether it is stale."""
    made = manual()
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"stale: docs/{PAGE.name}; run `make gen`")
        return
    if stale:
        PAGE.write_text(made, encoding="utf-8")
        print(f"docs/{PAGE.name}")


if __name__ == "__main__":
    main()
