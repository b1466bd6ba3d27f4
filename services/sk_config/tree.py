"""YAML text as plain values that still know where each of them stands.

Everything that YAML does behind one's back is settled here: duplicate keys, merge keys, tags,
several documents, aliases that explode. No message quotes the text: it may hold secrets, and in a
file that can't be read nobody knows where. What the values mean is not known here.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from sk_bus.errors import problem
from sk_bus.model import Problem
from sk_config.syntax import complaint

Path = tuple[str | int, ...]

MAX_LENGTH = 256 * 1024
_MAX_VALUES = 20_000
_MAX_DEPTH = 50
_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value begins, and where its key does (the value's place again in a list)."""

    line: int
    column: int
    key_line: int
    key_column: int


@dataclass(frozen=True, slots=True)
class Odd:
    """A value of a type that no field has, such as a date; ``kind`` names it."""

    kind: str


@dataclass(slots=True)
class Tree:
    """``data`` is ``None`` for an empty text, and when the text can't be read at all.

    ``odd_numbers`` are whole ones that one wouldn't read as YAML does: 012 is 10, 1:30 is 90.
    """

    data: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    odd_numbers: dict[Path, int] = field(default_factory=dict)


def tree_of(text: str) -> Tree:
    """The tree that ``text`` stands for. Whatever the text, this returns."""
    tree = Tree()
    text = text.removeprefix("\ufeff")  # PyYAML would count it as a column
    if len(text) > MAX_LENGTH:
        tree.problems.append(
            _at(
                problem(
                    "file-too-long", "the file is longer than {limit} characters", limit=MAX_LENGTH
                )
            )
        )
        return tree
    node = _composed(text, tree)
    if node is not None:
        try:
            tree.data = _Walk(tree).value(node, (), 0)
        except _TooMuchError as too_much:
            tree.data = None
            tree.problems.append(too_much.problem)
    return tree


def _composed(text: str, tree: Tree) -> yaml.Node | None:
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        tree.problems.append(_unreadable_character(text, int(error.position)))
        return None
    try:
        node: yaml.Node | None = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        tree.problems.append(_unreadable_character(text, int(error.position)))
    except yaml.MarkedYAMLError as error:
        tree.problems.append(_syntax(error, loader.get_mark()))
    except _TooMuchError as too_much:
        tree.problems.append(too_much.problem)
    except (ValueError, OverflowError, IndexError):
        # PyYAML lets them out for numbers and escapes beyond all bounds.
        made = complaint("")
        tree.problems.append(_at(made, loader.get_mark()))
    else:
        return node
    finally:
        loader.dispose()
    return None


class _TooMuchError(Exception):
    """The text stands for more than a configuration can need."""

    def __init__(self, made: Problem) -> None:
        self.problem = made
        super().__init__(made.message)


class _Loader(yaml.SafeLoader):
    """Composes nodes, which PyYAML does by recursion, no deeper than a configuration can be."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise _TooMuchError(_nested(event.start_mark))
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _unreadable_character(text: str, position: int) -> Problem:
    before = text[:position]
    line = before.count("\n")
    column = position - (before.rfind("\n") + 1)
    made = problem("yaml-character", "a character that can't stand in YAML: remove it")
    return _placed(made, line + 1, column + 1)


def _syntax(error: yaml.MarkedYAMLError, end: Any) -> Problem:
    said = error.problem or ""
    mark = error.problem_mark or error.context_mark or end
    if "end of stream" in said or "<stream end>" in said:
        mark = error.context_mark or mark  # what was opened and never closed, not the file's end
    return _at(complaint(f"{error.context or ''}; {said}"), mark)


def _nested(mark: Any) -> Problem:
    return _at(problem("too-deep", "values are nested too deeply, or without end"), mark)


def _at(made: Problem, mark: Any = None) -> Problem:
    return _placed(made, 1, 1) if mark is None else _placed(made, mark.line + 1, mark.column + 1)


def _placed(made: Problem, line: int, column: int) -> Problem:
    return Problem(id=made.id, message=made.message, params=made.params, line=line, column=column)


class _Walk:
    """From nodes to values, once each; aliases are written out, within bounds."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._count = 0
        self._scalars = yaml.constructor.SafeConstructor()

    def value(self, node: yaml.Node, path: Path, depth: int, key: yaml.Node | None = None) -> Any:
        self._bounded(node, depth)
        mark = node.start_mark
        key_mark = mark if key is None else key.start_mark
        self._tree.places[path] = Place(
            mark.line + 1, mark.column + 1, key_mark.line + 1, key_mark.column + 1
        )
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [
                self.value(item, (*path, index), depth + 1) for index, item in enumerate(node.value)
            ]
        if isinstance(node, yaml.ScalarNode):
            value = self._scalar(node)
            if type(value) is int and str(value) != node.value.removeprefix("+"):
                self._tree.odd_numbers[path] = value
            return value
        self._say("unknown-tag", "a tag (!) that has no meaning here: remove it", node)
        return Odd("a tagged value")

    def _mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, item in node.value:
            if key.tag == _MERGE:
                for name, pair in self._merged(item, depth + 1).items():
                    merged.setdefault(name, pair)
            elif not isinstance(key, yaml.ScalarNode):
                self._say("bad-key", "a key is plain text", key)
            else:
                # Whatever YAML takes a plain key for (NO, 8080), here it is the text as written.
                name = self._text(key)
                if name in own:
                    message = "{key} stands here a second time (first in line {first})"
                    first = own[name][0].start_mark.line + 1
                    self._say("duplicate-key", message, key, key=name, first=first)
                else:
                    own[name] = key, item
        return {
            name: self.value(item, (*path, name), depth + 1, key)
            for name, (key, item) in {**merged, **own}.items()
        }

    def _merged(self, node: yaml.Node, depth: int) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """The pairs that ``<<`` brings in; what comes first wins. They stand at their anchor."""
        self._bounded(node, depth)
        if isinstance(node, yaml.SequenceNode):
            made: dict[str, tuple[yaml.Node, yaml.Node]] = {}
            for item in node.value:
                made = {**self._merged(item, depth + 1), **made}
            return made
        if not isinstance(node, yaml.MappingNode):
            self._say("bad-merge", "<< takes a mapping, or a list of mappings", node)
            return {}
        made = {}
        inherited: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, item in node.value:
            self._count += 1
            if key.tag == _MERGE:
                inherited = {**self._merged(item, depth + 1), **inherited}
            elif isinstance(key, yaml.ScalarNode):
                made.setdefault(self._text(key), (key, item))
        return {**inherited, **made}

    def _bounded(self, node: yaml.Node, depth: int) -> None:
        self._count += 1
        if depth > _MAX_DEPTH:
            raise _TooMuchError(_nested(node.start_mark))
        if self._count > _MAX_VALUES:
            made = problem("too-many", "more than {limit} values", limit=_MAX_VALUES)
            raise _TooMuchError(_at(made, node.start_mark))

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            match node.tag.removeprefix(_TAG):
                case "str":
                    return self._text(node)
                case "null":
                    return None
                case "bool":
                    return self._scalars.construct_yaml_bool(node)
                case "int":
                    return self._scalars.construct_yaml_int(node)
                case "float":
                    return self._scalars.construct_yaml_float(node)
                case "timestamp":
                    return Odd("a date")
                case "value":
                    return "="
                case _:
                    self._say("unknown-tag", "a tag (!) that has no meaning here: remove it", node)
                    return Odd("a tagged value")
        except (ValueError, KeyError, OverflowError, IndexError):
            # "!!int abc", or more digits than Python reads.
            self._say(
                "bad-value",
                "this value isn't what its tag (!!) or its look says: put it in quotes",
                node,
            )
            return Odd("an unreadable value")

    def _text(self, node: yaml.ScalarNode) -> str:
        text = str(node.value)
        if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text):
            self._say("bad-character", "a character that can't stand in text here", node)
            return ""
        return text

    def _say(self, id_: str, message: str, node: yaml.Node, **params: object) -> None:
        self._tree.problems.append(_at(problem(id_, message, **params), node.start_mark))
