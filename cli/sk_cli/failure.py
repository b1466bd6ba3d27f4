"""How a command ends other than well: a sentence, the next step, and an exit code."""

from collections.abc import Sequence
from enum import IntEnum

from sk_cli.words import t


class Exit(IntEnum):
    """The exit codes; scripts rely on them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_RUNNING = 3
    NO_SUCH = 4
    TIMED_OUT = 5
    INVALID_CONFIGURATION = 6
    DEGRADED = 7
    INTERRUPTED = 130


class Failure(Exception):  # noqa: N818  it is what a person is told, not a fault of ours
    """Ends the command with ``code``.

    ``message``, ``details`` (lines that others wrote) and ``then`` (the next step) go to stderr.
    """

    def __init__(
        self,
        message: str,
        *,
        code: Exit = Exit.FAILED,
        then: str = "",
        details: Sequence[str] = (),
    ) -> None:
        self.details = tuple(details)
        self.message = message
        self.code = code
        self.then = then
        super().__init__(message)


def no_such(kind: str, named: str, known: Sequence[str], *, then: str = "") -> Failure:
    """There is no ``kind`` (agent, channel, component) of that name; the nearest are named."""
    import difflib

    folded = {one.casefold(): one for one in known}
    near = [folded[one] for one in difflib.get_close_matches(named.casefold(), folded, n=3)]
    message = t(f"no-such.{kind}", named=named)
    if near:
        message += " " + t("no-such.near", names=", ".join(near))
    elif known:
        message += " " + t("no-such.known", names=", ".join(known[:20]))
    return Failure(message, code=Exit.NO_SUCH, then=then)
