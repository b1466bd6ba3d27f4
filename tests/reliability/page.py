"""The table as text: with what came of its tests for a terminal, without for the page."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.reliability.table import ROWS, Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN = "<!-- made by `python -m tests.reliability --write` -->"
END = "<!-- up to here -->"


def printed(rows: Iterable[Row], passed: Mapping[str, bool]) -> Iterable[str]:
    """A line for each promise: whether it holds by every one of its tests."""
    for row in rows:
        came = [passed.get(test) for test in row.tests]
        word = (
            "–" if not came else "not run" if None in came else "holds" if all(came) else "BROKEN"
        )
        yield f"{row.id:<6} {word:<8} {row.when}: {row.holds}"
        yield from (f"{'':<15} {test}" for test in row.tests if passed.get(test) is False)


def table() -> str:
    """The table of the page."""
    lines = ["| | when | what holds | shown by |", "| --- | --- | --- | --- |"]
    for row in ROWS:
        shown = [f"`{name}`" for name in dict.fromkeys(_file(test) for test in row.tests)]
        lines.append(
            f"| {row.id} | {row.when} | {row.holds} | "
            f"{'; '.join(filter(None, [', '.join(shown), row.besides]))} |"
        )
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with the table of now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _file(test: str) -> str:
    return test.partition("::")[0].removeprefix("tests/").removesuffix(".py")
