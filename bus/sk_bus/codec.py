"""Values to plain maps and back, for data that we wrote ourselves.

Fields that are ``None`` are left out; everything else is written. Decoding trusts its input to
have been written by :func:`plain` (unknown fields are ignored, so that older code reads newer
logs; a missing field takes its default). Data from outside is validated by pydantic instead.
"""

import dataclasses
import operator
import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

T = TypeVar("T")

Decoder = Callable[[Any], Any]


_SCALARS = frozenset((str, int, bool, float))


def plain(value: Any) -> Any:
    """A dataclass, a tuple or a dict of them, as dicts, lists and scalars."""
    kind = type(value)
    if kind in _SCALARS or value is None:
        return value
    shape: _Shape | None = _shape(typing.cast("Any", kind))
    if shape is not None:
        made = {}
        for name, field in zip(shape.names, shape.fields(value), strict=True):
            if type(field) in _SCALARS:
                made[name] = field
            elif field is not None:
                made[name] = plain(field)
        return made
    if kind is tuple or kind is list or kind is frozenset:
        return [plain(item) for item in value]
    if kind is dict:
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value._value_  # which ``value`` looks up, slowly
    return value


class _Shape(typing.NamedTuple):
    """How to take a dataclass apart: its fields' names, and all their values at once."""

    names: tuple[str, ...]
    fields: Callable[[Any], tuple[Any, ...]]


@cache
def _shape(kind: Any) -> _Shape | None:
    if not dataclasses.is_dataclass(kind):
        return None
    names = tuple(field.name for field in dataclasses.fields(kind))
    if len(names) > 1:
        return _Shape(names, operator.attrgetter(*names))
    return _Shape(names, lambda value: tuple([getattr(value, name) for name in names]))


def value_of(kind: type[T], data: Any) -> T:
    """The value of ``kind`` (a dataclass, or a union of tagged ones) that ``data`` stands for."""
    decoder: Decoder = _decoder(typing.cast("Any", kind))
    return typing.cast("T", decoder(data))


def tag_of(kind: type) -> str:
    """The ``type`` that a tagged dataclass carries on the wire."""
    (tag,) = get_args(typing.get_type_hints(kind)["type"])
    return str(tag)


def members(union: Any) -> dict[str, type]:
    """The members of a union of tagged dataclasses by their tags."""
    return {tag_of(member): member for member in get_args(union)}


@cache
def _decoder(kind: Any) -> Decoder:
    if isinstance(kind, typing.NewType):
        return _decoder(kind.__supertype__)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union_decoder(get_args(kind))
    if origin is tuple:
        item = _decoder(get_args(kind)[0])
        return _same if item is _same_item else lambda data: tuple([item(one) for one in data])
    if origin is list:
        inner = _decoder(get_args(kind)[0])
        return lambda data: [inner(one) for one in data]
    if origin is dict:
        _, value_kind = get_args(kind)
        value = _decoder(value_kind)
        if value is _same_item:
            return _same_item
        return lambda data: {key: value(one) for key, one in data.items()}
    if origin is Literal:
        return _same_item
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if dataclasses.is_dataclass(kind):
        return _dataclass_decoder(typing.cast("type", kind))
    return _same_item


def _same_item(data: Any) -> Any:
    return data


def _same(data: Any) -> Any:
    return tuple(data)


def _union_decoder(kinds: tuple[Any, ...]) -> Decoder:
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    classes = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
    if not classes:
        return _decoder(kinds[0]) if len(kinds) == 1 else _same_item
    if len(classes) == 1:
        # One dataclass beside scalars (Text), or alone (an optional value).
        only: Decoder = _decoder(typing.cast("Any", classes[0]))
        return lambda data: only(data) if isinstance(data, dict) else data
    by_tag = {tag_of(kind): _decoder(kind) for kind in typing.cast("list[Any]", classes)}
    return lambda data: by_tag[data["type"]](data) if isinstance(data, dict) else data


def _dataclass_decoder(kind: type) -> Decoder:
    hints = typing.get_type_hints(kind)
    fields = [field.name for field in dataclasses.fields(kind) if field.init]
    decoders = {name: _LazyDecoder(hints[name]) for name in fields}
    # What needs no decoding at all, known once a type that names itself has been made.
    same: set[str] = set()
    looked = False

    def decode(data: dict[str, Any]) -> Any:
        nonlocal looked
        if not looked:
            looked = True
            same.update(name for name in fields if decoders[name].same())
        if data.keys() <= same:
            return kind(**data)
        made = {}
        for name, item in data.items():
            if name in same or item is None:
                if name in decoders:
                    made[name] = item
            elif name in decoders:
                made[name] = decoders[name](item)
        return kind(**made)

    return decode


class _LazyDecoder:
    """Looks its decoder up at first use, so that a type may name itself."""

    __slots__ = ("_decode", "_kind")

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._decode: Decoder | None = None

    def same(self) -> bool:
        """Whether what comes out is what goes in."""
        if self._decode is None:
            self._decode = _decoder(self._kind)
        return self._decode is _same_item

    def __call__(self, data: Any) -> Any:
        decode = self._decode
        if decode is None:
            decode = self._decode = _decoder(self._kind)
        return decode(data)
