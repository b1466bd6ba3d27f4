"""A place in the log, or a moment, as an option's value; seen from now."""

import time
from typing import Any

import click

from sk_cli.moments import Moment, moment
from sk_cli.words import t


class When(click.ParamType[Moment]):
    """A seq, ``5m`` ago, ``boot``, a time of day or a date; no place where ``seqs`` is off."""

    name = "when"

    def __init__(self, *, seqs: bool = True) -> None:
        self._seqs = seqs

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Moment:
        if isinstance(value, Moment):
            return value
        made = moment(str(value), now=time.time_ns() // 1_000_000)
        if made is None or (made.ts is None and not self._seqs):
            self.fail(t("usage.when" if self._seqs else "usage.date", value=value), param, ctx)
        return made
