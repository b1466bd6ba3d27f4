import json
from typing import Any

import pytest

from sk_agents.filling import UnfillableError, filled

DEFINITION = {"mcpServers": [{"name": "files", "env": [{"name": "KEY", "value": "s3cret-value"}]}]}


def fill(line: str) -> bytes:
    def definition(digest: str) -> Any:
        if digest != "d1":
            raise UnfillableError(digest)
        return DEFINITION

    return filled(line, definition=definition, blob=lambda sha256: f"text of {sha256}")


@pytest.mark.parametrize(
    ("placeholder", "value"),
    [
        ({"$def": "d1#/mcpServers"}, DEFINITION["mcpServers"]),
        ({"$def": "d1#/mcpServers/0/env/0/value"}, "s3cret-value"),
        ({"$def": "d1#"}, DEFINITION),
        ({"$blob": "ab12"}, "text of ab12"),
        ({"$blob": {"sha256": "ab12", "length": 9, "head": "t"}}, "text of ab12"),
        ({"$blob": 1}, {"$blob": 1}),
        ({"$def": "d1#/x", "more": 1}, {"$def": "d1#/x", "more": 1}),
    ],
)
def test_a_placeholder_becomes_what_it_stands_for(placeholder: Any, value: Any) -> None:
    line = fill(json.dumps({"params": {"it": [placeholder]}}))
    assert json.loads(line)["params"]["it"] == [value]


def test_a_user_who_writes_of_placeholders_is_quoted() -> None:
    text = '{"$def": "d1#/mcpServers"}'
    line = fill(json.dumps({"text": text}))
    assert json.loads(line)["text"] == text


def test_a_line_without_placeholders_passes_untouched() -> None:
    assert fill('{"a" :  1}') == b'{"a" :  1}\n'


def test_what_is_written_is_one_line() -> None:
    assert fill('{\n"a": "x\\ny"}') == b'{"a":"x\\ny"}\n'


@pytest.mark.parametrize(
    "reference", ["d1#/nothing", "d1#/mcpServers/7", "d1#/mcpServers/x", "d2#"]
)
def test_a_part_that_is_not_there_is_an_error(reference: str) -> None:
    with pytest.raises(UnfillableError):
        fill(json.dumps({"$def": reference}))
