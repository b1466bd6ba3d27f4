"""The generated files say what the dataclasses say."""

import json

import jsonschema
import pytest

from sk_bus import schema
from sk_bus.commands import Send
from sk_bus.events import MessageUpdated
from sk_bus.model import ChannelId, CommandId, Message, MessageId, Role, TextPart
from sk_bus.vocabulary import EVENTS, encoded


def test_the_generated_files_are_fresh() -> None:
    assert schema.stale(schema.ROOT) == [], "run `make gen`"


def test_every_event_stands_in_the_schema_and_the_reference() -> None:
    whole = json.loads(schema.json_schema())
    tags = {**whole["events"], **whole["commands"], **whole["internal"]}
    assert set(tags) == set(EVENTS)
    page = schema.reference()
    assert [tag for tag in EVENTS if f"### `{tag}`" not in page] == []


@pytest.mark.parametrize(
    ("group", "event"),
    [
        (
            "events",
            MessageUpdated(
                channel=ChannelId("c1"),
                message=Message(
                    id=MessageId("m1"),
                    channel=ChannelId("c1"),
                    createdAt=1,
                    role=Role.USER,
                    parts=(TextPart(text="hi"),),
                ),
            ),
        ),
        ("commands", Send(id=CommandId("1"), channel=ChannelId("c1"), text="hi")),
    ],
)
def test_what_travels_fits_the_schema(group: str, event: MessageUpdated | Send) -> None:
    whole = json.loads(schema.json_schema())
    data = encoded(event)
    one = {**whole[group][data["type"]], "$defs": whole["$defs"]}
    jsonschema.validate(data, one)
    jsonschema.validate(data, {"oneOf": [one], "$defs": whole["$defs"]})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**data, "channel": 5}, one)
