"""What axe finds wrong in a page: of WCAG 2.2, at levels A and AA."""

from typing import Any

from playwright.sync_api import Page

from tests.support.instance import ROOT

_SCRIPT = ROOT / "ui-web" / "node_modules" / "axe-core" / "axe.min.js"
# target-size is of 2.2 and off unless it is named.
_RUN = """(only) => axe.run(document, {
    runOnly: only ?? ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    rules: only === null ? {"target-size": {enabled: true}} : {},
    resultTypes: ["violations"],
}).then(({violations}) => violations.map(({id, nodes}) => ({
    id, nodes: nodes.map(({html, failureSummary}) => [html.slice(0, 200), failureSummary]),
})))"""


def there() -> bool:
    """Is it installed? It belongs to the page's development tools."""
    return _SCRIPT.exists()


def found(page: Page, only: list[str] | None = None) -> list[Any]:
    """By all those rules, or ``only`` by some; put into the page where it isn't there yet."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT.read_text(encoding="utf-8"))
    return list(page.evaluate(_RUN, only))
