"""The screen of `chat`: what was said scrolls away above, what is typed stands below.

A line that still grows is shown just above the input, and scrolls away when it is complete. It
knows nothing of conversations.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from sk_cli.invocation import Invocation
from sk_cli.render import neutral
from sk_cli.typed import Candidate
from sk_cli.wrapping import wrapped

# A paragraph is one line: of one that is longer than a screen, what stands there scrolls away.
_LONGEST = 1500
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse", "who": "bold", "growing": ""})

Complete = Callable[[str], Iterable[Candidate]]


class Screen:
    """A terminal in which a person types while others speak.

    ``head`` is the input's label, ``state`` what stands below it; ``interrupted`` is called at
    Ctrl-C with what is typed, and says whether that is to be wiped. Lines typed ``before``, oldest
    first, and now come back with the arrow keys; no file of ours keeps them.
    """

    def __init__(
        self,
        told: Invocation,
        *,
        head: str,
        state: Callable[[], str],
        complete: Complete,
        interrupted: Callable[[str], bool],
        changed: Callable[[str], None],
        before: Sequence[str],
    ) -> None:
        self._told = told
        self._head = head
        self._state = state
        self._growing = ""
        self._lines: list[tuple[str, dict[str, Any]]] = []
        self._session: PromptSession[str] = PromptSession(
            message=self._message,
            completer=_Completer(complete),
            # Else room for a menu would be kept free below the input all the time.
            complete_while_typing=Condition(self._may_complete),
            history=InMemoryHistory(before),
            bottom_toolbar=self._toolbar,
            key_bindings=_keys(interrupted),
            style=_STYLE,
            color_depth=None if told.colors() else ColorDepth.DEPTH_1_BIT,
            enable_suspend=True,
            erase_when_done=True,  # what was sent is shown when it has been said
        )
        self._session.app.min_redraw_interval = 0.05
        self._session.default_buffer.on_text_changed += lambda buffer: changed(buffer.text)

    async def read(self) -> str | None:
        """The next line that is typed; ``None`` where the person wants to leave (Ctrl-D)."""
        try:
            return await self._session.prompt_async()
        except EOFError:
            return None

    def line(self, text: str, **style: Any) -> None:
        """Say a line (or several) of our own; what still grows ends before it."""
        self._end_growing()
        self._lines += [(neutral(one), style) for one in text.split("\n")]

    def write(self, text: str) -> None:
        """Go on with what somebody says."""
        *whole, self._growing = (self._growing + neutral(text)).split("\n")
        self._lines += [(line, {}) for line in whole]
        if len(self._growing) > _LONGEST:
            *rows, self._growing = wrapped(self._growing, self._width(), get_cwidth)
            self._lines += [(row, {}) for row in rows]

    def gap(self) -> None:
        """Leave a line free, whatever stood there."""
        self._end_growing()
        self._lines.append(("", {}))

    async def show(self) -> None:
        """Bring to the screen what was said since."""
        if self._lines:
            width = self._width()
            rows = [
                self._told.styled(row, **style)
                for line, style in self._lines
                for row in wrapped(line, width, get_cwidth)
            ]
            self._lines = []
            await run_in_terminal(lambda: self._print(rows))
        self.refresh()

    def refresh(self) -> None:
        """Draw input and state anew."""
        self._session.app.invalidate()

    def _print(self, lines: list[str]) -> None:
        # Straight to the terminal: prompt_toolkit would show our colours as text.
        print("\n".join(lines), flush=True)

    def _width(self) -> int:
        return self._session.app.output.get_size().columns

    def _end_growing(self) -> None:
        if self._growing:
            self._lines.append((self._growing, {}))
            self._growing = ""

    def _message(self) -> StyleAndTextTuples:
        growing: StyleAndTextTuples = []
        if self._growing:
            rows = wrapped(self._growing, self._width(), get_cwidth)
            growing.append(("class:growing", "\n".join([*rows, ""])))
        return [*growing, ("class:who", f"{self._head} "), ("", "› ")]

    def _may_complete(self) -> bool:
        text = self._session.default_buffer.text
        return text.startswith("/") or "@" in text

    def _toolbar(self) -> str:
        return "\n".join(wrapped(self._state(), self._width(), get_cwidth))


class _Completer(Completer):
    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        del event
        for one in self._complete(document.text_before_cursor):
            yield Completion(
                one.text, start_position=-one.replaced, display_meta=neutral(one.about)
            )


def _keys(interrupted: Callable[[str], bool]) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _stop(event: KeyPressEvent) -> None:
        if interrupted(event.current_buffer.text):
            event.current_buffer.reset()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
