"""A program on a terminal of its own, as a person has it before them."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from types import TracebackType
from typing import Self

from tests.support.instance import TestInstance
from tests.support.patience import PATIENCE

_TOKEN = re.compile(
    r"\x1b\[([0-9;?]*)([@-~])"  # what moves, wipes and colours
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -~]"
    r"|([\s\S])"
)
# The beginning of a sequence whose end hasn't come yet.
_UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?]*|\][^\x07\x1b]*)?$")


class Screen:
    """What a terminal shows, and what has scrolled away; without colours or wide characters."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns = columns
        self._rows: list[list[str]] = [[] for _ in range(rows)]
        self._gone: list[str] = []
        self._y = self._x = 0
        self._rest = ""
        self.asked = False

    @property
    def text(self) -> str:
        """All of it, the oldest line first."""
        return "\n".join([*self._gone, *self.lines]).rstrip("\n")

    @property
    def lines(self) -> list[str]:
        """What can be seen now."""
        return ["".join(row).rstrip() for row in self._rows]

    def place(self) -> str:
        """The answer to a program that asks where the cursor is."""
        self.asked = False
        return f"\x1b[{self._y + 1};{self._x + 1}R"

    def feed(self, text: str) -> None:
        text = self._rest + text
        unfinished = _UNFINISHED.search(text)
        self._rest = unfinished[0] if unfinished else ""
        for token in _TOKEN.finditer(text[: len(text) - len(self._rest)]):
            if token[3]:
                self._character(token[3])
            elif token[2]:
                self._move(token[2], [int(n) for n in re.findall(r"\d+", token[1])])

    def _character(self, one: str) -> None:
        match one:
            case "\r":
                self._x = 0
            case "\n":
                self._down()
            case "\b":
                self._x = max(0, self._x - 1)
            case _ if one >= " ":
                if self._x >= self._columns:
                    self._x = 0
                    self._down()
                row = self._rows[self._y]
                row.extend(" " * (self._x + 1 - len(row)))
                row[self._x] = one
                self._x += 1

    def _down(self) -> None:
        if self._y < len(self._rows) - 1:
            self._y += 1
            return
        self._gone.append("".join(self._rows.pop(0)).rstrip())
        self._rows.append([])

    def _move(self, what: str, numbers: list[int]) -> None:
        by = numbers[0] if numbers else 0
        match what:
            case "A":
                self._y = max(0, self._y - max(1, by))
            case "B":
                self._y = min(len(self._rows) - 1, self._y + max(1, by))
            case "C":
                self._x = min(self._columns - 1, self._x + max(1, by))
            case "D":
                self._x = max(0, self._x - max(1, by))
            case "H":
                self._y, self._x = (max(1, n) - 1 for n in [*numbers, 1, 1][:2])
            case "J":
                first = 0 if by == 2 else self._y + 1
                self._rows[first:] = [[] for _ in self._rows[first:]]
                del self._rows[self._y][self._x :]
            case "K":
                del self._rows[self._y][self._x :]
            case "n":
                self.asked = True


class Terminal:
    """``sk-cli`` with ``arguments`` on a terminal; use it as a context manager."""

    def __init__(
        self, instance: TestInstance, *arguments: str, columns: int = 80, rows: int = 24
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            instance.command(*arguments),
            env=instance.environment | {"TERM": "xterm", "COLUMNS": str(columns)},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._bytes = b""
        self.screen = Screen(columns, rows)
        self.shown = ""

    @property
    def text(self) -> str:
        """Everything that was shown, as it looks."""
        return self.screen.text

    def until(self, pattern: str, timeout: float = PATIENCE) -> str:
        """Read until ``pattern`` stands in the text, or the program ends."""
        while not re.search(pattern, self.text):
            assert select.select([self._ours], [], [], timeout)[0], f"only:\n{self.text}"
            try:
                self._bytes += os.read(self._ours, 65536)
            except OSError:  # the program has ended
                break
            try:
                fresh, self._bytes = self._bytes.decode(), b""
            except UnicodeDecodeError:
                continue  # half a character
            self.shown += fresh
            self.screen.feed(fresh)
            if self.screen.asked:
                self.keys(self.screen.place())
        return self.text

    def keys(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        """Read until the program ends; its exit code."""
        self.until(r"(?!)")
        return self.process.wait(timeout=PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
