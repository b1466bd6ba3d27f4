"""Services that break a promise, for the checker to notice: never part of the product.

``forgetful`` is a router that knows after a restart how far it had decided, and nothing of what.
``doubling`` is a history that keeps each finished answer twice over.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sk_bus.model import Message, Role
from sk_bus.queries import SERVICES
from tests.support.instance import ROOT, TestInstance

# By the promise that it breaks: the service, and the function here that runs it.
BROKEN = {"memory": ("router", "forgetful"), "once": ("history", "doubling")}

_SCRIPT = """\
#!{python}
import sys
sys.path[:0] = {path!r}
from tests.chaos.broken import {function}
sys.argv[0] = "sk-{service}"
{function}()
"""


def scripts(instance: TestInstance, promise: str) -> Path:
    """The services' scripts, in a folder of their own where one of them breaks the promise."""
    service, function = BROKEN[promise]
    made = instance.directory / "broken"
    made.mkdir()
    for name in SERVICES:
        if name != service:
            (made / f"sk-{name}").symlink_to(instance.bin / f"sk-{name}")
    script = made / f"sk-{service}"
    path = [str(ROOT / part) for part in ("", "bus", "services", "cli")]
    script.write_text(
        _SCRIPT.format(python=sys.executable, path=path, function=function, service=service)
    )
    script.chmod(0o755)
    return made


def forgetful() -> None:
    from sk_router import service
    from sk_router.state import State

    whole = service._recovered

    async def recovered(*arguments: Any) -> Any:
        return replace(await whole(*arguments), state=State())

    service._recovered = recovered  # type: ignore[assignment]
    service.main()


def doubling() -> None:
    from sk_history import service
    from sk_history.fold import Fold

    once = Fold._message

    def twice(fold: Fold, message: Message) -> None:
        again = message.done and message.role is Role.AGENT
        once(fold, replace(message, parts=message.parts * 2) if again else message)

    Fold._message = twice  # type: ignore[method-assign]
    service.main()
