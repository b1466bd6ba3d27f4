"""`sk-cli send`: a message to a channel; with ``--wait`` the answers come on stdout as they grow.

Only what agents write goes to stdout; tools, requests for leave and ends go to stderr.
"""

import asyncio
import os
import sys
from typing import Any

import click

from sk_bus.commands import AnswerPermission, Send
from sk_bus.contract import Bus, Resync
from sk_bus.errors import RefusedError, UnreachableError
from sk_bus.events import Kind, PermissionRequested
from sk_bus.model import (
    ChannelId,
    Cursor,
    MessageId,
    Permission,
    PermissionId,
    PermissionOption,
)
from sk_bus.queries import Conversation, ConversationView
from sk_bus.wire import Batch
from sk_cli import asking, render
from sk_cli.answers import (
    Answers,
    Asks,
    Began,
    Ended,
    HeldUp,
    Noted,
    Said,
    Settled,
    Waits,
    Wrote,
)
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Command, Invocation, pass_invocation


@click.command(cls=Command, help="Send TEXT to CHANNEL: a name, an id, or @agent for its direct.")
@click.argument("channel")
@click.argument("text", nargs=-1)
@click.option("--wait", is_flag=True, help="Wait for the answers and print them as they come.")
@click.option(
    "--allow",
    multiple=True,
    metavar="KIND",
    help="Allow tools of this kind once (read, edit, execute, …; a list; all). With --wait.",
)
@pass_invocation
def command(
    told: Invocation, *, channel: str, text: tuple[str, ...], wait: bool, allow: tuple[str, ...]
) -> int:
    message = _text(text)
    kinds = frozenset(kind.strip() for one in allow for kind in one.split(","))
    if kinds and not wait:
        raise click.UsageError("--allow needs --wait: somebody has to be there to allow it")
    interactive = wait and sys.stdin.isatty() and sys.stderr.isatty()

    async def body(bus: Bus) -> int:
        hello = await bus.hello()
        where, _ = await asking.conversation(bus, channel)
        outcome = await asking.done(bus, Send(id=asking.command_id(), channel=where, text=message))
        question = MessageId(outcome.result.value)
        if not wait:
            if told.json:
                told.document({"channel": where, "message": question, "seq": outcome.seq})
            else:
                told.say(f"sent: {question}")
            return int(Exit.DONE)
        waiting = _Waiting(
            told,
            bus,
            channel=where,
            question=question,
            allow=kinds,
            direct=channel.startswith("@"),
        )
        return await waiting.run(Cursor(epoch=hello.epoch, seq=hello.head), interactive=interactive)

    try:
        return asking.ask(
            told,
            body,
            late="the answer goes on" if wait else "the message may yet be sent",
            then=f"sk-cli channels messages {channel}   or   sk-cli stop {channel}",
        )
    except KeyboardInterrupt:
        if wait:
            told.say(f"\nthe answer goes on; end it with: sk-cli stop {channel}")
        raise


def _text(words: tuple[str, ...]) -> str:
    if words == ("-",) or (not words and not sys.stdin.isatty()):
        given = sys.stdin.buffer.read()
    elif words:
        given = os.fsencode(" ".join(words))
    else:
        raise click.UsageError("what shall be sent? Give the text, or - to read it from stdin")
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"the text is not UTF-8 (byte {error.start + 1} is 0x{given[error.start]:02x}); "
            "convert it first, with iconv for instance"
        ) from error


class _Waiting:
    """One wait for the answers to one message."""

    def __init__(
        self,
        told: Invocation,
        bus: Bus,
        *,
        channel: ChannelId,
        question: MessageId,
        allow: frozenset[str],
        direct: bool,
    ) -> None:
        self._told = told
        self._bus = bus
        self._channel = channel
        self._question = question
        self._allow = allow
        self._direct = direct
        self._answers = Answers(question, channel)
        self._open: dict[PermissionId, PermissionRequested] = {}
        self._asked: set[PermissionId] = set()
        self._interactive = False
        self._fresh_line = True
        self._well: bool | None = None

    async def run(self, after: Cursor, *, interactive: bool) -> int:
        self._interactive = interactive
        if not interactive:
            await self._follow(after)
            return self._finish()
        typed: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin, lambda: typed.put_nowait(sys.stdin.readline()))
        try:
            async with asyncio.TaskGroup() as group:
                choices = group.create_task(self._choices(typed))
                await self._follow(after)
                choices.cancel()
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        finally:
            loop.remove_reader(sys.stdin)
        return self._finish()

    async def _follow(self, after: Cursor) -> None:
        wanted = Kind.PUBLIC | Kind.DELTA
        async for item in self._bus.follow(after):
            match item:
                case Batch() if item.kinds & wanted:
                    for _, event in item.events():
                        await self._say(self._answers.handle(event))
                case Resync():
                    view = await self._bus.query(Conversation(channel=self._channel), timeout=60)
                    await self._say(self._answers.restored(view.value))
                case _:
                    continue
            if self._well is not None:
                return

    async def _say(self, said: list[Said]) -> None:
        for one in said:
            match one:
                case Wrote(text=text):
                    self._write(text)
                case Began(agent=agent):
                    if not self._direct:
                        self._note(f"{agent}:", bold=True)
                case Noted(line=line):
                    self._note(line, dim=True)
                case Asks(permission=permission):
                    await self._ask(permission)
                case Settled(id=id_) if id_ in self._open:
                    del self._open[id_]
                    self._note(f"{one.optionId or 'cancelled'} (by {one.by})", dim=True)
                case Settled():
                    pass
                case Waits():
                    await self._tell_why_it_waits()
                case HeldUp(permission=permission):
                    self._tell_held_up(permission)
                case Ended(well=well):
                    self._well = well

    async def _tell_why_it_waits(self) -> None:
        view: ConversationView = (await self._bus.query(Conversation(channel=self._channel))).value
        if view.waitingFor is not None:
            self._note(f"it waits: {view.waitingFor.agent} is answering elsewhere", dim=True)
        elif view.busy and view.queued:
            self._note(f"it waits: {view.answering} is answering what came before", dim=True)
        for permission in view.permissions:
            self._tell_held_up(permission)

    def _tell_held_up(self, permission: Permission | PermissionRequested) -> None:
        title = render.one_line(permission.toolCall.title, 200)
        self._note(f"{permission.agent} waits for leave to {permission.toolCall.kind}: {title}")
        self._note(_how_to_answer(permission))

    def _write(self, text: str) -> None:
        if self._told.json:
            return
        # A file or a pipe gets what the agent wrote, byte for byte; a terminal must not obey it.
        sys.stdout.write(render.neutral(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()
        self._fresh_line = text.endswith("\n")

    def _note(self, line: str, **style: Any) -> None:
        both_on_screen = sys.stdout.isatty() and sys.stderr.isatty()
        if both_on_screen and not self._fresh_line:
            print(flush=True)
            self._fresh_line = True
        self._told.say(self._told.styled(line, sys.stderr, **style))

    # --- permissions --------------------------------------------------------------------------

    async def _ask(self, permission: PermissionRequested) -> None:
        if permission.id in self._asked:
            return
        self._asked.add(permission.id)
        self._open[permission.id] = permission
        kind = permission.toolCall.kind
        title = render.one_line(permission.toolCall.title, 200)
        once = _allowing(permission)
        if once is not None and (kind in self._allow or "all" in self._allow):
            self._note(f"{permission.agent} may {kind} once: {title}", dim=True)
            await self._answer(permission, once.optionId)
            return
        self._note(f"{permission.agent} asks for leave to {kind}: {title}", bold=True)
        for number, option in enumerate(permission.options, 1):
            self._note(f"  {number}  {render.one_line(option.name)}  [{option.optionId}]")
        if self._interactive:
            self._note("number?")
            return
        self._note(_how_to_answer(permission))

    async def _choices(self, typed: asyncio.Queue[str]) -> None:
        """Take what the person types as the answer to the request that waits longest."""
        while True:
            line = (await typed.get()).strip()
            if not self._open:
                continue
            permission = next(iter(self._open.values()))
            options = permission.options
            if line.isdigit() and 0 < int(line) <= len(options):
                await self._answer(permission, options[int(line) - 1].optionId)
            elif line in {option.optionId for option in options}:
                await self._answer(permission, line)
            else:
                self._note(f"a number from 1 to {len(options)}")

    async def _answer(self, permission: PermissionRequested, option: str) -> None:
        command = AnswerPermission(
            id=asking.command_id(), permission=permission.id, optionId=option
        )
        try:
            outcome = await self._bus.command(command)
        except (RefusedError, UnreachableError) as error:
            self._note(str(error))
            return
        if outcome.result.problem is not None:
            # Somebody else was faster, or the agent is gone: the event says which.
            self._note(outcome.result.problem.message, dim=True)

    def _finish(self) -> int:
        if self._told.json:
            self._told.document(
                {
                    "channel": self._channel,
                    "message": self._question,
                    "ok": bool(self._well),
                    "answers": [
                        {
                            "id": answer.id,
                            "agent": answer.agent,
                            "text": answer.text,
                            "stopReason": answer.last.stopReason if answer.last else None,
                            "error": answer.last.error if answer.last else None,
                        }
                        for answer in self._answers.answers.values()
                    ],
                }
            )
        elif not self._fresh_line:
            print(flush=True)
        if not self._well:
            raise Failure("the answer did not end as it should", code=Exit.FAILED)
        return int(Exit.DONE)


def _how_to_answer(permission: Permission | PermissionRequested) -> str:
    ids = "|".join(render.one_line(option.optionId) for option in permission.options)
    return f"it waits; answer with: sk-cli permissions answer {permission.id} {ids}"


def _allowing(permission: PermissionRequested) -> PermissionOption | None:
    """The option that allows this one call and no more."""
    return next((one for one in permission.options if one.kind == "allow_once"), None)
