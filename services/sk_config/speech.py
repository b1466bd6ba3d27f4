"""What sk-config has said last, so that it says each thing once, however often it is killed.

Its position at the bus is this memory: the epoch, the digest of the last ``config:changed``, the
last ``component:state`` of each component, and the last Open that was judged. A new epoch hears
everything anew.
"""

from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.events import ComponentStateChanged, ConfigChanged
from sk_bus.internal import FileOpenable
from sk_bus.model import Component
from sk_bus.wire import Position
from sk_config.definition import canonical, digest_of


class Speech:
    """Begins from the position that the bus keeps, whatever it is."""

    def __init__(self, epoch: int, position: Position) -> None:
        self._epoch = epoch
        self._config: str | None = None
        self._components: dict[str, Component] = {}
        self.opened: str | None = None
        match position:
            case {"epoch": known, "config": config, "components": dict(components)} if (
                known == epoch
            ):
                self._config = config
                self.opened = position.get("opened")
                self._components = {
                    name: value_of(Component, data) for name, data in components.items()
                }

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(self._components.values())

    @property
    def position(self) -> Position:
        return {
            "epoch": self._epoch,
            "config": self._config,
            "components": plain(self._components),
            "opened": self.opened,
        }

    def config(self, event: ConfigChanged, text: bytes | None) -> bool:
        """Whether ``event``, about the file's ``text``, is news; if so it now counts as said."""
        file: Any = None if text is None else digest_of(text)
        digest = digest_of(canonical([file, plain(event)]))
        if digest == self._config:
            return False
        self._config = digest
        return True

    def component(self, event: ComponentStateChanged) -> None:
        """Note that ``event`` is said."""
        self._components[event.component] = Component(
            component=event.component,
            state=event.state,
            pid=event.pid,
            restarts=event.restarts,
            since=event.since,
        )

    def openable(self, event: FileOpenable) -> None:
        """Note that ``event`` is said."""
        self.opened = event.command
