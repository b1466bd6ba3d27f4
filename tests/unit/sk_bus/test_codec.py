"""Values survive the way to plain maps and back, whatever they hold."""

import dataclasses
import enum
import types
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus.codec import plain, value_of
from sk_bus.model import BlobRef, Diff, Message, Problem, TextPart, ToolCall, ToolPart
from sk_bus.queries import QUERIES
from sk_bus.vocabulary import EVENTS, decoded, encoded, kind_of

JSON = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
MAPS = st.dictionaries(st.text(max_size=3), JSON, max_size=3)


def values(kind: typing.Any) -> st.SearchStrategy[typing.Any]:
    """Any value of a type hint of the vocabulary."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return JSON
    if isinstance(kind, typing.NewType) or kind is str:
        return st.text(max_size=8)
    if kind is int:
        return st.integers(0, 2**53)
    if kind is bool:
        return st.booleans()
    if kind is type(None):
        return st.none()
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values(one) for one in arguments])
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        if arguments[1] is typing.Any:
            return MAPS
        return st.dictionaries(st.text(max_size=3), values(arguments[1]), max_size=2)
    if issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    hints = typing.get_type_hints(kind)
    return st.builds(
        kind, **{name: st.deferred(lambda h=hint: values(h)) for name, hint in hints.items()}
    )


def any_event() -> st.SearchStrategy[typing.Any]:
    return st.sampled_from(sorted(EVENTS)).flatmap(lambda tag: values(EVENTS[tag]))


@given(any_event())
def test_every_event_survives_the_way_there_and_back(event: typing.Any) -> None:
    assert decoded(encoded(event)) == event


@given(any_event())
def test_every_event_has_exactly_one_class(event: typing.Any) -> None:
    assert kind_of(event).value.bit_count() == 1


@pytest.mark.parametrize("name", sorted(QUERIES))
@given(data=st.data())
@settings(max_examples=5)
def test_every_answer_survives_the_way_there_and_back(name: str, data: st.DataObject) -> None:
    returns = QUERIES[name].returns  # type: ignore[attr-defined]
    answer = b"bytes" if returns is bytes else data.draw(values(returns))
    assert value_of(returns, plain(answer)) == answer


def test_a_field_without_a_value_is_left_out() -> None:
    assert plain(Problem(id="x", message="y")) == {
        "id": "x",
        "message": "y",
        "params": {},
        "warning": False,
    }


def test_an_unknown_field_is_ignored_so_that_old_code_reads_new_logs() -> None:
    assert value_of(TextPart, {"type": "text", "text": "a", "colour": "red"}) == TextPart(text="a")


def test_an_unknown_event_is_none() -> None:
    assert decoded({"type": "moon:landed"}) is None


def test_a_text_is_a_string_or_a_reference() -> None:
    ref = BlobRef(sha256="ab", length=3, head="a")
    tool = ToolCall(id="t", diffs=(Diff(path="/p", newText=ref, oldText="o"),))
    assert value_of(ToolPart, plain(ToolPart(tool=tool))).tool.diffs[0].newText == ref


@pytest.mark.parametrize("tag", sorted(EVENTS))
def test_a_tag_stands_in_its_own_event(tag: str) -> None:
    fields = {field.name: field for field in dataclasses.fields(EVENTS[tag])}
    assert fields["type"].default == tag


def test_a_message_keeps_its_order_of_parts() -> None:
    message = Message(
        id="m",  # type: ignore[arg-type]
        channel="c",  # type: ignore[arg-type]
        createdAt=1,
        role="agent",  # type: ignore[arg-type]
        parts=(TextPart(text="1"), ToolPart(tool=ToolCall(id="2")), TextPart(text="3")),
    )
    assert value_of(Message, plain(message)).parts == message.parts
