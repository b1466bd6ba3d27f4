"""Waiting for the answers to one message: they go to stdout as they grow, all talk to stderr."""

import asyncio
import sys
from typing import Any

from sk_bus.commands import AnswerPermission
from sk_bus.contract import Bus, Resync
from sk_bus.errors import RefusedError, UnreachableError
from sk_bus.events import Kind, PermissionRequested
from sk_bus.model import ChannelId, Cursor, MessageId, Permission, PermissionId, PermissionOption
from sk_bus.queries import Conversation, ConversationView
from sk_bus.wire import Batch
from sk_cli import asking, messages, names, render
from sk_cli.answers import Answers, Ended, HeldUp, Said, Waits
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Invocation
from sk_cli.selection import option_found
from sk_cli.telling import Asks, Began, Noted, Settled, Wrote
from sk_cli.words import problem_text, t


class Waiting:
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
        titles: names.Titles | None,
    ) -> None:
        self._told = told
        self._bus = bus
        self._channel = channel
        self._question = question
        self._allow = allow
        self._direct = direct
        self._titles = titles
        self._unsigned: names.Unsigned | None = None
        self._began = False
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
                    self._write(self._unsigned.wrote(text) if self._unsigned else text)
                case Began(agent=agent):
                    self._begin(agent)
                case Noted(line=line):
                    self._note(line, dim=True)
                case Asks(permission=permission):
                    await self._ask(permission)
                case Settled(id=id_) if id_ in self._open:
                    del self._open[id_]
                    chosen = one.optionId or t("event.cancelled")
                    self._note(t("send.settled", option=chosen, by=one.by), dim=True)
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
            self._note(t("send.elsewhere", agent=view.waitingFor.agent), dim=True)
        elif view.busy and view.queued:
            self._note(t("send.queued", agent=view.answering or "–"), dim=True)
        for permission in view.permissions:
            self._tell_held_up(permission)

    def _tell_held_up(self, permission: Permission | PermissionRequested) -> None:
        self._note(messages.asks(permission.agent, permission.toolCall))
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
        self._told.say(self._told.styled(render.neutral(line), sys.stderr, **style))

    def _begin(self, agent: str) -> None:
        """An agent begins to answer; on the terminal a name that it puts in front is hidden."""
        if self._unsigned is not None:
            self._write(self._unsigned.ended())
        if self._titles is not None:
            self._unsigned = names.Unsigned(names.signs(agent, self._titles))
        if self._began and not self._fresh_line:
            self._write("\n\n")  # two answers, be they in a pipe, are two paragraphs
        self._began = True
        if not self._direct:
            self._note(f"{agent}:", bold=True)

    # --- permissions --------------------------------------------------------------------------

    async def _ask(self, permission: PermissionRequested) -> None:
        if permission.id in self._asked:
            return
        self._asked.add(permission.id)
        self._open[permission.id] = permission
        kind = permission.toolCall.kind
        asked = messages.asks(permission.agent, permission.toolCall)
        once = _allowing(permission)
        if once is not None and (kind in self._allow or "all" in self._allow):
            self._note(f"{asked} – {t('send.allowed')}", dim=True)
            await self._answer(permission, once.optionId)
            return
        self._note(asked, bold=True)
        for number, offered in enumerate(permission.options, 1):
            named = render.one_line(offered.name)
            self._note(f"  {number}  {named}  [{render.one_line(offered.optionId)}]")
        if self._interactive:
            self._note(t("send.number"))
            return
        self._note(_how_to_answer(permission))

    async def _choices(self, typed: asyncio.Queue[str]) -> None:
        """Take what the person types as the answer to the request that waits longest."""
        while True:
            line = (await typed.get()).strip()
            if not self._open:
                continue
            permission = next(iter(self._open.values()))
            chosen = option_found(line, permission.options)
            if chosen is not None:
                await self._answer(permission, chosen.optionId)
            else:
                self._note(t("send.number-to", most=len(permission.options)))

    async def _answer(self, permission: PermissionRequested, option: str) -> None:
        command = AnswerPermission(
            id=asking.command_id(), permission=permission.id, optionId=option
        )
        try:
            outcome = await self._bus.command(command)
        except (RefusedError, UnreachableError) as error:
            self._note(problem_text(error.problem))
            return
        if outcome.result.problem is not None:
            # Somebody else was faster, or the agent is gone: the event says which.
            self._note(problem_text(outcome.result.problem), dim=True)

    def _finish(self) -> int:
        if self._unsigned is not None:
            self._write(self._unsigned.ended())
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
            raise Failure(t("send.failed"), code=Exit.FAILED)
        return int(Exit.DONE)


def _how_to_answer(permission: Permission | PermissionRequested) -> str:
    ids = "|".join(render.one_line(option.optionId) for option in permission.options)
    return t("send.how-to-answer", command=f"sk-cli permissions answer {permission.id} {ids}")


def _allowing(permission: PermissionRequested) -> PermissionOption | None:
    """The option that allows this one call and no more."""
    return next((one for one in permission.options if one.kind == "allow_once"), None)
