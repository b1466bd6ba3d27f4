"""Keeps the configuration in force: reads the file, judges it, and answers for it.

What is spoken about it goes through ``speak``; nothing here knows the bus.
"""

import asyncio
import logging
import os
import pwd
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from sk_bus.errors import RefusedError, problem
from sk_bus.events import ConfigChanged
from sk_bus.masking import masked_problem, masker
from sk_bus.model import AgentName, Problem
from sk_bus.queries import Checked, ContentView, CurrentConfig
from sk_config import files, starter
from sk_config.definition import canonical, digest_of
from sk_config.record import Record, record_of
from sk_config.surroundings import Surroundings, variables_in
from sk_config.watcher import Signature, changes, signature, written

if TYPE_CHECKING:
    from sk_config.check import Verdict

Source = Literal["flag", "env", "remembered", "default"]
Speak = Callable[[ConfigChanged, bytes | None], None]

log = logging.getLogger("sk.config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The configuration file, the folder of its data, that of the definitions; how it was found."""

    file: Path
    data: Path
    definitions: Path
    source: Source
    epoch: int

    @property
    def record(self) -> Path:
        return self.data / "configuration.json"


@dataclass(slots=True)
class Keeper:
    """One configuration file. Every reading and writing of it goes one after the other."""

    places: Places
    surroundings: Surroundings
    speak: Speak
    valid: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    _record: Record = field(default_factory=Record)
    _kept: bool = False
    _seen: Signature = None
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def begin(self) -> None:
        """Take up what was in force, then read the file; write a starter where there is none."""
        async with self._one:
            self._recall()
            files.put_definitions(self.places.definitions, self._record.definitions)
            # In a folder whose file was there before, an editor may be about to re-create it.
            if signature(self.places.file) is None and not self._kept:
                self._write_starter()
            await written(self.places.file)
            await self._read()
            self.loaded.set()
        named = frozenset(agent.digest for agent in self._record.config.agents)
        files.sweep_definitions(self.places.definitions, named, time.time())

    async def follow(self) -> None:
        """Read the file whenever it has changed, for ever."""
        async for _ in changes(self.places.file, self._seen):
            async with self._one:
                if signature(self.places.file) is None and not self._kept:
                    self._write_starter()
                await self._read()

    # --- what is asked ----------------------------------------------------------------------

    def current(self, history_problem: str | None) -> CurrentConfig:
        config = self._record.config
        return CurrentConfig(
            path=str(self.places.file),
            source=self.places.source,
            created=self._record.starter == self.places.epoch,
            valid=self.valid,
            problems=self.problems,
            warnings=self.warnings,
            theme=config.theme,
            language=config.language,
            historyProblem=history_problem,
        )

    def icon(self, agent: AgentName) -> str:
        """What the configuration in force says.

        Raises:
            RefusedError: it has no such agent.
        """
        for one in self._record.config.agents:
            if one.name == agent:
                return one.icon
        raise RefusedError(problem("no-such-agent", "no such agent: {agent}", agent=agent))

    def content(self) -> ContentView:
        """The file as it is now; empty when there is none, so that one can be saved.

        Raises:
            RefusedError: it can't be read.
        """
        try:
            data = files.read(self.places.file)
        except FileNotFoundError:
            data = b""
        except OSError as error:
            raise RefusedError(self._unreadable(error)) from error
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # With other characters in their place, a save would lose what stands there.
            raise RefusedError(_not_text(data, error)) from error
        return ContentView(text=text, digest=digest_of(data))

    async def validate(self, text: str, folder: str = "") -> Checked:
        verdict = await self._judged(text, folder)
        return Checked(problems=verdict.problems, warnings=verdict.warnings)

    async def save(self, text: str, digest: str) -> Checked:
        """Write ``text`` if it is valid, and the file is still that of ``digest``.

        Raises:
            RefusedError: the file has changed, or can't be written.
        """
        async with self._one:
            verdict = await self._judged(text)
            if not verdict.valid:
                return Checked(problems=verdict.problems, warnings=verdict.warnings)
            try:
                disk = files.read(self.places.file)
            except FileNotFoundError:
                disk = b""
            except OSError as error:
                raise RefusedError(self._unreadable(error)) from error
            data = files.like(text, disk)
            # The disk is the text already: an earlier try was cut off before its answer.
            if disk != data:
                if digest_of(disk) != digest:
                    message = "the file has changed since it was read: load it again first"
                    raise RefusedError(problem("file-changed", message))
                self._write(data)
            self._adopt(data, verdict)
            return Checked(problems=(), warnings=verdict.warnings, saved=True)

    # --- reading and judging ----------------------------------------------------------------

    async def _read(self) -> None:
        self._seen = signature(self.places.file)
        try:
            data = files.read(self.places.file)
        except OSError as error:
            self._refuse((self._unreadable(error),), (), None)
            return
        if self._same(data):
            self.valid, self.problems, self.warnings = True, (), ()
            self._tell(data)
            return
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._refuse((_not_text(data, error),), (), data)
            return
        self._adopt(data, await self._judged(text))

    def _same(self, data: bytes) -> bool:
        """Whether the record says all about this text, and still holds."""
        record = self._record
        return (
            record.clean
            and record.text == digest_of(data)
            and record.made == self._made(data)
            and record.holds(self.surroundings)
        )

    async def _judged(self, text: str, folder: str = "") -> "Verdict":
        # The schema costs a sixth of a second and 12 MB: only who has something to judge pays.
        from sk_config.check import check  # noqa: PLC0415

        known = self.surroundings
        if folder:
            known = replace(known, folder=folder)
        verdict = await asyncio.to_thread(check, text, known)
        mask = masker(self._record.secrets)
        return replace(
            verdict,
            problems=tuple(masked_problem(made, mask) for made in verdict.problems),
            warnings=tuple(masked_problem(made, mask) for made in verdict.warnings),
        )

    def _adopt(self, data: bytes, verdict: "Verdict") -> None:
        if verdict.config is None:
            self._refuse(verdict.problems, verdict.warnings, data)
            return
        text = digest_of(data)
        self._record = Record(
            text=text,
            made=self._made(data),
            clean=not verdict.warnings,
            starter=self._record.starter if text == self._record.text else None,
            config=verdict.config,
            definitions=verdict.definitions,
        )
        self._kept = True
        # First the files, then the words that name them.
        files.put_definitions(self.places.definitions, verdict.definitions)
        self._remember()
        self.valid, self.problems, self.warnings = True, (), verdict.warnings
        self._tell(data)

    def _refuse(
        self, problems: tuple[Problem, ...], warnings: tuple[Problem, ...], data: bytes | None
    ) -> None:
        self.valid, self.problems, self.warnings = False, problems, warnings
        for made in problems[:10]:
            log.warning("%s:%s:%s: %s", self.places.file, made.line, made.column, made.message)
        self._tell(data)

    def _tell(self, data: bytes | None) -> None:
        event = ConfigChanged(
            path=str(self.places.file),
            valid=self.valid,
            problems=(*self.problems, *self.warnings),
            config=self._record.config,
        )
        self.speak(event, data)

    def _unreadable(self, error: OSError) -> Problem:
        if isinstance(error, FileNotFoundError):
            return problem("no-such-file", "there is no file {path}", path=str(self.places.file))
        return problem(
            "unreadable",
            "{path} can't be read: {reason}",
            path=str(self.places.file),
            reason=error.strerror or type(error).__name__,
        )

    def _made(self, data: bytes) -> str:
        """What an outcome depends on besides the text: where, with which variables, which code."""
        known = self.surroundings
        names = {"PATH", *variables_in(data.decode(errors="replace"))}
        variables = {name: known.variables.get(name) for name in names}
        code = sorted(
            (path.name, info.st_mtime_ns, info.st_size)
            for path in Path(__file__).parent.glob("*.py")
            for info in (path.stat(),)
        )
        return digest_of(canonical([known.folder, known.home, known.beside, variables, code]))

    # --- writing ----------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        try:
            files.replace(self.places.file, data)
        except OSError as error:
            made = problem(
                "unwritable",
                "{path} can't be written: {reason}",
                path=str(self.places.file),
                reason=error.strerror or type(error).__name__,
            )
            raise RefusedError(made) from error
        self._seen = signature(self.places.file)

    def _write_starter(self) -> None:
        known = starter.catalogue(
            resources.files("sk_config").joinpath("known_agents.json").read_text("utf-8")
        )
        search = self.surroundings.variables.get("PATH", "")
        text = starter.starter(
            known, lambda program: self.surroundings.program(program, search) is not None
        )
        data = text.encode()
        try:
            self.places.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.replace(self.places.file, data)
        except OSError as error:
            log.warning("no starter file at %s: %s", self.places.file, error.strerror)
            return
        log.info("wrote a starter file to %s", self.places.file)
        self._record = replace(
            self._record, text=digest_of(data), starter=self.places.epoch, clean=False
        )

    def _remember(self) -> None:
        data = self._record.written()
        try:
            files.replace(self.places.record, data)
        except OSError as error:
            # In force all the same; only a restart with an invalid file would miss it.
            log.warning("%s can't be written: %s", self.places.record, error.strerror)

    def _recall(self) -> None:
        try:
            self._record = record_of(self.places.record.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            log.warning("%s is of no use: %s", self.places.record, error)
            return
        self._kept = True


def _not_text(data: bytes, error: UnicodeDecodeError) -> Problem:
    before = data[: error.start]
    line = before.count(b"\n") + 1
    column = len(before.rpartition(b"\n")[2].decode(errors="replace")) + 1
    made = problem("not-utf8", "the file must be UTF-8 text; here is something else")
    return replace(made, line=line, column=column)


def surroundings_of(file: Path) -> Surroundings:
    """This machine, as a configuration file at ``file`` is read against it."""
    return Surroundings(
        folder=str(file.parent),
        home=os.path.expanduser("~"),  # noqa: PTH111  Path.home() ignores an empty HOME
        variables=dict(os.environ),
        beside=str(Path(sys.executable).parent),
        executable=_executable,
        directory=lambda path: os.path.isdir(path) and os.access(path, os.X_OK),  # noqa: PTH112
        home_of=_home_of,
    )


def _home_of(user: str) -> str | None:
    try:
        return pwd.getpwnam(user).pw_dir
    except KeyError:
        return None


def _executable(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)  # noqa: PTH116
    except (OSError, ValueError):
        return False


def source_of(path: Path) -> Source:
    """How the file was found, as whoever started us noted it at ``path``."""
    try:
        noted = path.read_text().strip()
    except OSError:
        noted = ""
    return cast("Source", noted) if noted in ("flag", "env", "remembered") else "default"
