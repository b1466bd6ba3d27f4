"""The errors of the bus: a small tree, ours and theirs apart."""

from sk_bus.model import Problem


class SidekicksError(Exception):
    """An error that a person may read; ``problem`` says it in a form that can be worded anew."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.message)


class RefusedError(SidekicksError):
    """What was asked can't be done, and asking again will not help."""


class UnreachableError(SidekicksError):
    """Nobody answered before the deadline; asking again may help."""


class SupersededError(Exception):
    """Another process publishes under our producer's name. Ours ends: the newer one is right."""

    def __init__(self, producer: str, position: object) -> None:
        self.producer = producer
        self.position = position
        super().__init__(f"another process publishes as {producer} (its position: {position!r})")


class EpochChangedError(Exception):
    """The bus began a new epoch: what we know is of the one before, so we begin anew as well."""

    def __init__(self, ours: int, theirs: int) -> None:
        self.ours = ours
        self.theirs = theirs
        super().__init__(f"the bus began epoch {theirs}; we are of epoch {ours}")


class TooLargeError(Exception):
    """Events that were to be published at once are more than a request to the bus can hold."""

    def __init__(self, size: int, most: int, kind: str) -> None:
        super().__init__(
            f"{size} bytes can't be published at once, only {most}; the largest is {kind}"
        )


class MalformedError(Exception):
    """Bytes that are not ours: dropped by whoever reads them, with a line in its log."""


def problem(id_: str, message: str, **params: object) -> Problem:
    """Build a :class:`Problem`; ``message`` may name its params in braces."""
    return Problem(id=id_, message=message.format(**params), params=dict(params))
