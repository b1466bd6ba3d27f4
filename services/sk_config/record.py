"""The last valid configuration, as it is kept beside the journal to outlive its own file.

The record also knows which text it was made from and in which surroundings, so that a start with
the same ones needs no check: that saves the import of the whole schema.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.model import PublicConfig
from sk_config.definition import Definition, canonical, digest_of
from sk_config.surroundings import Surroundings

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """``text`` is the digest of the file's text, ``made`` of what else the outcome depends on.

    ``clean``: the check had no warning. ``starter`` is the epoch in which the text was written as
    the starter file, if it is that.
    """

    text: str = ""
    made: str = ""
    clean: bool = False
    starter: int | None = None
    config: PublicConfig = field(default_factory=PublicConfig)
    definitions: tuple[Definition, ...] = ()

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset().union(*(definition.secrets for definition in self.definitions))

    def written(self) -> bytes:
        return canonical(
            {
                "version": _VERSION,
                "text": self.text,
                "made": self.made,
                "clean": self.clean,
                "starter": self.starter,
                "config": plain(self.config),
                "definitions": [
                    {"content": made.content.decode(), "secrets": sorted(made.secrets)}
                    for made in self.definitions
                ],
            }
        )

    def holds(self, surroundings: Surroundings) -> bool:
        """Whether what the definitions lead to is still there."""
        for made in self.definitions:
            content = json.loads(made.content)
            commands = [content["command"]]
            commands += [s["command"] for s in content["mcpServers"] if "command" in s]
            if not all(surroundings.executable(command) for command in commands):
                return False
            if not surroundings.directory(content["cwd"]):
                return False
        return True


def record_of(data: bytes) -> Record:
    """The record that ``data`` is.

    Raises:
        ValueError: it is none of ours, or of another version.
    """
    try:
        kept: dict[str, Any] = json.loads(data)
        if kept["version"] != _VERSION:
            raise ValueError("a record of another version")
        return Record(
            text=kept["text"],
            made=kept["made"],
            clean=kept["clean"],
            starter=kept["starter"],
            config=value_of(PublicConfig, kept["config"]),
            definitions=tuple(_definition(one) for one in kept["definitions"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("no record of a configuration") from error


def _definition(kept: dict[str, Any]) -> Definition:
    content = kept["content"].encode()
    return Definition(
        digest=digest_of(content),
        content=content,
        cwd=json.loads(content)["cwd"],
        secrets=frozenset(kept["secrets"]),
    )
