"""One sitting in a conversation: what comes from the bus is shown, what is typed is done.

Everything that is shown comes from the bus, also what one has typed oneself, so that it stands in
the order in which it was said, and a component that is killed is a pause.
"""

import asyncio
import contextlib
import time
from typing import Any

from sk_bus.commands import AnswerPermission, AnyCommand, Cancel, Prepare, Send
from sk_bus.contract import Bus, Heartbeat, Resync
from sk_bus.errors import RefusedError, SidekicksError
from sk_bus.events import ChannelsChanged, CommandsChanged, Kind, PermissionRequested
from sk_bus.model import AgentName, ChannelId, Cursor, SlashCommand
from sk_bus.queries import (
    Commands,
    Conversation,
    ConversationView,
    ListChannels,
    Preview,
    PreviewView,
)
from sk_bus.wire import Batch
from sk_cli import asking, messages, names, outlook, render
from sk_cli.failure import Exit
from sk_cli.invocation import Invocation
from sk_cli.talk import Said, Spoke, Talk
from sk_cli.telling import Asks, Began, Noted, Settled, Wrote
from sk_cli.typed import Candidate, Choose, Own, Say, candidates, meaning, typed_before
from sk_cli.words import problem_text, t

_WANTED = Kind.PUBLIC | Kind.DELTA
# Without a heartbeat for so long (s) the bus is gone: it comes once a second at least, be the
# machine ever so busy.
_SILENT_AFTER = 8.0


class Chat:
    def __init__(self, told: Invocation, bus: Bus, view: ConversationView) -> None:
        from sk_cli.screen import Screen

        self._told = told
        self._bus = bus
        self._view = view
        self._channel: ChannelId = view.channel.id
        self._talk = Talk(self._channel)
        self._heard = time.monotonic()
        self._silent = False
        self._preview = ""
        self._typed = asyncio.Event()
        self._text = ""
        self._prepared = False
        self._left = asyncio.Event()
        self._unsigned: names.Unsigned | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._names: dict[ChannelId, str] = {}
        self._commands: dict[AgentName, tuple[SlashCommand, ...]] = {}
        self.titles: names.Titles = {}
        # Of an earlier version: it told of every conversation, also of deleted ones.
        (told.choice.instance.state / "chat-history").unlink(missing_ok=True)
        self._screen = Screen(
            told,
            head=render.channel_name(view.channel),
            state=self._state,
            complete=self._candidates,
            interrupted=self._interrupted,
            changed=self._changed,
            before=typed_before(view.messages),
        )

    async def learn_commands(self) -> None:
        """Ask for what each agent announced; who can't be asked now will announce again."""
        for agent in self.titles:
            with contextlib.suppress(SidekicksError):
                announced = (await self._bus.query(Commands(agent=AgentName(agent)))).value
                self._commands[AgentName(agent)] = announced
        with contextlib.suppress(SidekicksError):
            listed = (await self._bus.query(ListChannels())).value
            self._names = {one.id: render.channel_name(one) for one in listed}

    async def run(self, after: Cursor, last: int) -> int:
        self._greet()
        self._say(self._talk.begin(self._view, last))
        await self._screen.show()
        try:
            async with asyncio.TaskGroup() as group:
                self._tasks = group
                others = [
                    group.create_task(self._follow(after)),
                    group.create_task(self._look_ahead()),
                    group.create_task(self._watch()),
                ]
                await self._read()
                for task in others:
                    task.cancel()
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        if self._talk.busy:
            self._told.say(t("send.interrupted", channel=self._named()))
        return int(Exit.DONE)

    def _named(self) -> str:
        return render.channel_name(self._view.channel)

    def _greet(self) -> None:
        members = ", ".join(self._view.channel.members)
        who = self._named() + (f": {members}" if self._view.channel.name and members else "")
        self._screen.line(who, bold=True)
        self._screen.line(t("chat.greeting"), dim=True)

    # --- what comes ---------------------------------------------------------------------------

    async def _follow(self, after: Cursor) -> None:
        async for item in self._bus.follow(after, heartbeats=True):
            self._heard = time.monotonic()
            match item:
                case Batch() if item.kinds & _WANTED:
                    for _, event in item.events():
                        match event:
                            case CommandsChanged():
                                self._commands[event.agent] = event.commands
                            case ChannelsChanged():
                                self._channels(event)
                        self._say(self._talk.handle(event))
                    await self._screen.show()
                case Resync():
                    await self._catch_up()
                case Heartbeat() if self._silent:
                    self._silent = False
                    self._screen.line(t("chat.back"), dim=True)
                    await self._screen.show()

    async def _catch_up(self) -> None:
        """Look at the conversation anew: events may have been missed, or the file is another."""
        try:
            view = (await self._bus.query(Conversation(channel=self._channel), timeout=60)).value
        except RefusedError as error:
            self._screen.line(problem_text(error.problem))
            self._left.set()
        else:
            self._say(self._talk.restored(view))
        await self._screen.show()

    async def _watch(self) -> None:
        """Say that the bus is silent; that it is back is said by what comes."""
        while True:
            await asyncio.sleep(_SILENT_AFTER)
            if not self._silent and time.monotonic() - self._heard > _SILENT_AFTER:
                self._silent = True
                self._screen.line(t("chat.silent"), fg="yellow")
                await self._screen.show()

    def _channels(self, event: ChannelsChanged) -> None:
        self._names = {one.id: render.channel_name(one) for one in event.channels}
        if self._channel not in self._names:
            self._screen.line(t("chat.gone"), fg="yellow")
            self._left.set()

    def _say(self, said: list[Said]) -> None:
        for one in said:
            match one:
                case Wrote(text=text):
                    self._screen.write(self._unsigned.wrote(text) if self._unsigned else text)
                case Began(agent=agent):
                    self._end_answer()
                    self._unsigned = names.Unsigned(names.signs(agent, self.titles))
                    self._screen.gap()
                    self._screen.line(f"{agent}:", bold=True, fg="cyan")
                case Spoke(text=text, queued=queued):
                    self._end_answer()
                    mark = f" [{t('end.queued')}]" if queued else ""
                    self._screen.gap()
                    self._screen.line(f"{t('author.you')}:{mark}", bold=True)
                    self._screen.line(text)
                case Noted(line=line):
                    self._screen.line(line, dim=True)
                case Asks(permission=permission):
                    self._ask(permission)
                case Settled(by=by, optionId=chosen):
                    settled = chosen or t("event.cancelled")
                    self._screen.line(t("send.settled", option=settled, by=by), dim=True)

    def _end_answer(self) -> None:
        if self._unsigned is not None:
            self._screen.write(self._unsigned.ended())
            self._unsigned = None

    def _ask(self, permission: PermissionRequested) -> None:
        self._screen.line(messages.asks(permission.agent, permission.toolCall), fg="yellow")
        for number, offered in enumerate(permission.options, 1):
            self._screen.line(f"  {number}  {render.one_line(offered.name)}")

    # --- what is typed ------------------------------------------------------------------------

    async def _read(self) -> None:
        while True:
            typing = asyncio.ensure_future(self._screen.read())
            leaving = asyncio.ensure_future(self._left.wait())
            await asyncio.wait({typing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            if not typing.done():
                typing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await typing
                return
            line = typing.result()
            self._changed("")
            if line is None or self._do(meaning(line, self._talk.waiting())):
                return
            await self._screen.show()

    def _do(self, meant: object) -> bool:
        """Do what a line means; whether it was to leave."""
        match meant:
            case Own.QUIT:
                return True
            case Own.STOP:
                self._stop()
            case Own.USAGE:
                self._show_usage()
            case Own.HELP:
                self._screen.line(t("chat.help"), dim=True)
            case Choose(permission=permission, optionId=chosen):
                self._order(
                    AnswerPermission(
                        id=asking.command_id(), permission=permission.id, optionId=chosen
                    )
                )
            case Say(text=text):
                self._order(Send(id=asking.command_id(), channel=self._channel, text=text))
        return False

    def _order(self, command: AnyCommand) -> None:
        """Have something done; one goes on typing meanwhile."""
        assert self._tasks is not None, "run() has begun"
        self._tasks.create_task(self._done(command))

    async def _done(self, command: AnyCommand) -> None:
        try:
            outcome = await self._bus.command(command)
        except SidekicksError as error:
            problem = error.problem
        else:
            if outcome.result.problem is None:
                return
            problem = outcome.result.problem
        self._screen.line(problem_text(problem), fg="yellow")
        then = asking.next_step(problem)
        if then:
            self._screen.line(t("failure.next", then=then), dim=True)
        await self._screen.show()

    def _stop(self) -> None:
        self._order(Cancel(id=asking.command_id(), channel=self._channel))

    def _interrupted(self, text: str) -> bool:
        """Ctrl-C: stop what is under way; else wipe what is typed; else say how one leaves."""
        if self._talk.busy:
            self._stop()
            return False
        if not text:
            assert self._tasks is not None, "run() has begun"
            self._screen.line(t("chat.leave"), dim=True)
            self._tasks.create_task(self._screen.show())
        return True

    def _show_usage(self) -> None:
        for agent, usage in self._talk.usage.items():
            used = t("event.usage", used=usage.used, size=usage.size or "?")
            self._screen.line(t("words.is", what=agent, how=used), dim=True)
        if not self._talk.usage:
            self._screen.line(t("chat.no-usage"), dim=True)

    def _candidates(self, before: str) -> Any:
        found: list[Candidate] = list(
            candidates(
                before,
                titles=self.titles,
                commands=dict(self._commands),
                direct=self._view.channel.direct,
            )
        )
        return found

    def _changed(self, text: str) -> None:
        self._text = text
        self._typed.set()
        if text.startswith("/") and not self._prepared:
            # Who has never announced commands is started for it; no model is loaded.
            self._prepared = True
            self._order(Prepare(id=asking.command_id(), channel=self._channel))

    # --- below the input ----------------------------------------------------------------------

    async def _look_ahead(self) -> None:
        """Say who would answer what is typed."""
        while True:
            await self._typed.wait()
            self._typed.clear()
            text = self._text
            if not text.strip() or self._view.channel.direct:
                self._preview = ""
            else:
                try:
                    query = Preview(channel=self._channel, text=text)
                    seen: PreviewView = (await self._bus.query(query, timeout=2.0)).value
                    self._preview = outlook.said(seen, self._names)
                except SidekicksError:
                    self._preview = ""  # who answers is then seen when they do
            self._screen.refresh()

    def _state(self) -> str:
        waiting = self._talk.waiting()
        if waiting is not None:
            return t("chat.choose", agent=waiting.agent, most=len(waiting.options))
        if self._preview:
            return self._preview
        if self._talk.busy:
            return outlook.turn(self._talk.turn, self._names) + "   " + t("chat.stop")
        return t("chat.idle")
