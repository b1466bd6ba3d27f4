"""The vocabulary for those who don't read Python: JSON Schema, TypeScript, a reference page.

``python -m sk_bus.schema`` writes them from the dataclasses, ``--check`` says which are stale. A
tool of development: no process of Sidekicks imports it.
"""

import dataclasses
import json
import re
import sys
import types
import typing
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter

from sk_bus import codec, commands, events, french, internal, model, queries, vocabulary

ROOT = Path(__file__).resolve().parents[2]
_MARK = "Generated from bus/sk_bus by `make gen`; don't edit."
_ALIASES: list[tuple[Any, str]] = [(model.Text, "Text"), (model.Part, "Part")]


def members(union: Any) -> list[type]:
    return list(get_args(union))


PUBLIC = members(events.PublicEvent)
COMMANDS = members(commands.AnyCommand)
INTERNAL = members(vocabulary.InternalEvent)
QUERIES = list(queries.QUERIES.values())


# --- JSON Schema ----------------------------------------------------------------------------


def json_schema() -> str:
    """Every event by its tag, every query by its name, all types once in ``$defs``."""
    inputs: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (codec.tag_of(kind), "validation", TypeAdapter(kind))
        for kind in [*PUBLIC, *COMMANDS, *INTERNAL]
    ]
    for kind in QUERIES:
        inputs.append((f"{kind.__name__}?", "validation", TypeAdapter(kind)))
        returns: Any = vars(kind)["returns"]
        inputs.append((f"{kind.__name__}!", "validation", TypeAdapter(returns)))
    made, shared = TypeAdapter.json_schemas(inputs, ref_template="#/$defs/{model}")
    by_name = {name: schema for (name, _), schema in made.items()}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The vocabulary of Sidekicks",
        "$comment": _MARK,
        "oneOf": [by_name[codec.tag_of(kind)] for kind in [*PUBLIC, *COMMANDS, *INTERNAL]],
        "events": {codec.tag_of(kind): by_name[codec.tag_of(kind)] for kind in PUBLIC},
        "commands": {codec.tag_of(kind): by_name[codec.tag_of(kind)] for kind in COMMANDS},
        "internal": {codec.tag_of(kind): by_name[codec.tag_of(kind)] for kind in INTERNAL},
        "queries": {
            kind.__name__: {
                "service": vars(kind)["service"],
                "arguments": by_name[f"{kind.__name__}?"],
                "returns": by_name[f"{kind.__name__}!"],
            }
            for kind in QUERIES
        },
        "$defs": shared["$defs"],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=False) + "\n"


# --- TypeScript -----------------------------------------------------------------------------


def typescript() -> str:
    """Interfaces of all values, and unions of them tagged by ``type``."""
    parts = [f"// {_MARK}\n"]
    nouns = [*_newtypes(), *_classes(model), *_classes(queries, but=QUERIES)]
    parts += [_noun(kind) for kind in nouns]
    parts.append("export type Text = string | BlobRef;\n")
    parts.append(_union("Part", members(model.Part)))
    parts += [_interface(kind) for kind in [*PUBLIC, *_internal_nouns(), *INTERNAL]]
    parts += [_interface(kind, asked=True) for kind in COMMANDS]
    parts.append(_union("PublicEvent", PUBLIC))
    parts.append(_union("InternalEvent", INTERNAL))
    parts.append(_union("Command", COMMANDS))
    parts.append("export type Event = PublicEvent | InternalEvent | Command;\n")
    parts.append(
        "/** An event as pages and programs get it: its fields, but for `type`, are in `data`. */\n"
        "export type Envelope<E extends { type: string } = Event> = E extends unknown\n"
        '  ? { seq: number; ts: number; type: E["type"]; data: Omit<E, "type"> }\n'
        "  : never;\n"
    )
    lines = ["/** What may be asked, by name. */", "export interface Queries {"]
    for kind in QUERIES:
        body = "; ".join(_field(kind, field, asked=True) for field in dataclasses.fields(kind))
        arguments = f"{{ {body} }}" if body else "Record<string, never>"
        returns = _ts(vars(kind)["returns"])
        lines.append(f"  {kind.__name__}: {{ arguments: {arguments}; returns: {returns} }};")
    lines.append("}\n")
    parts.append("\n".join(lines))
    return "\n".join(parts)


def _newtypes() -> list[Any]:
    return [kind for kind in vars(model).values() if isinstance(kind, typing.NewType)]


def _classes(module: types.ModuleType, *, but: Iterable[type] = ()) -> list[type]:
    return [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and kind not in but
    ]


def _internal_nouns() -> list[type]:
    return _classes(internal, but=INTERNAL)


def _noun(kind: Any) -> str:
    if isinstance(kind, typing.NewType):
        return f"export type {kind.__name__} = string;\n"
    if issubclass(kind, Enum):
        values = " | ".join(json.dumps(item.value) for item in kind)
        return f"export type {kind.__name__} = {values};\n"
    return _interface(kind)


def _interface(kind: type, *, asked: bool = False) -> str:
    said = doc(kind)
    lines = [f"/** {said} */"] if said else []
    lines.append(f"export interface {kind.__name__} {{")
    lines += [f"  {_field(kind, field, asked=asked)};" for field in dataclasses.fields(kind)]
    return "\n".join([*lines, "}\n"])


def _field(kind: type, field: "dataclasses.Field[Any]", *, asked: bool) -> str:
    hint = typing.get_type_hints(kind)[field.name]
    # What we wrote lacks only what is None; what others ask may leave out every default.
    optional = field.default is None or (asked and field.name != "type" and not _required(field))
    return f"{field.name}{'?' if optional else ''}: {_ts(hint)}"


def _required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _union(name: str, kinds: list[type]) -> str:
    return f"export type {name} =\n  | " + "\n  | ".join(k.__name__ for k in kinds) + ";\n"


def _ts(hint: Any) -> str:
    simple = {str: "string", bytes: "string", int: "number", float: "number", bool: "boolean"}
    if hint in simple:
        return simple[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _ts_union(args)
    if origin is Literal:
        return " | ".join(json.dumps(value) for value in args)
    if origin in (tuple, list):
        item = _ts(args[0])
        return f"readonly ({item})[]" if "|" in item else f"readonly {item}[]"
    if origin is dict:
        return f"Readonly<Record<string, {_ts(args[1])}>>"
    if hint is Any:
        return "unknown"
    return str(hint.__name__)


def _ts_union(args: tuple[Any, ...]) -> str:
    left = [arg for arg in args if arg is not type(None)]
    for alias, name in _ALIASES:
        wanted = get_args(alias)
        if set(wanted) <= set(left):
            left = [arg for arg in left if arg not in wanted]
            return " | ".join([name, *(_ts(arg) for arg in left)])
    return " | ".join(_ts(arg) for arg in left)


def problems_in_french() -> str:
    """The French sentences for problems, for the page."""
    lines = [
        f"// {_MARK}",
        "// Problems in French, by their ids (bus/sk_bus/french.py says how they are chosen).",
        "",
        "export const problemsInFrench: Readonly<Record<string, string | readonly string[]>> = {",
    ]
    lines += [
        f"  {json.dumps(id_)}: {json.dumps(known, ensure_ascii=False)},"
        for id_, known in french.PROBLEMS.items()
    ]
    words = json.dumps(french.WORDS, ensure_ascii=False, indent=2)
    beginnings = json.dumps(french.BEGINNINGS, ensure_ascii=False, indent=2)
    lines += [
        "};",
        "",
        "// What some params may hold, English in themselves; and which params those are.",
        f"export const wordsInFrench: Readonly<Record<string, string>> = {words};",
        "",
        f"export const beginningsInFrench: Readonly<Record<string, string>> = {beginnings};",
        "",
        f"export const wordedParams: readonly string[] = {json.dumps(french.WORDED)};",
    ]
    return "\n".join(lines) + "\n"


# --- the reference page ---------------------------------------------------------------------


def reference() -> str:
    """All of it as Markdown, for people."""
    lines = [
        "# Reference: events, commands, queries",
        "",
        f"<!-- {_MARK} -->",
        "",
        "Every event travels as a map with its `type`. Pages and `sk-cli events --json` show it as",
        '`{"seq", "ts", "type", "data"}`, its other fields in `data`. A field that is absent is',
        "`None`. The same as JSON Schema: [schema.json](schema.json).",
        "",
        "## Events",
        "",
    ]
    for kind in PUBLIC:
        lines += _section(f"`{codec.tag_of(kind)}`", kind)
    lines += ["## Commands", "", _paragraphs(commands.__doc__), ""]
    for kind in COMMANDS:
        lines += _section(f"`{codec.tag_of(kind)}`", kind)
    lines += ["## Internal events", "", _paragraphs(internal.__doc__), ""]
    for kind in INTERNAL:
        lines += _section(f"`{codec.tag_of(kind)}`", kind)
    lines += ["## Queries", "", _paragraphs(queries.__doc__), ""]
    for kind in QUERIES:
        returns = f"Answered by `sk-{vars(kind)['service']}` with `{_py(vars(kind)['returns'])}`."
        lines += _section(f"`{kind.__name__}`", kind, returns)
    lines += ["## Values", ""]
    nouns = [kind for kind in _classes(model) if dataclasses.is_dataclass(kind)]
    for kind in [*nouns, *_internal_nouns(), *_classes(queries, but=QUERIES)]:
        lines += _section(f"`{kind.__name__}`", kind)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(title: str, kind: type, after: str = "") -> list[str]:
    lines = [f"### {title}", ""]
    lines += [paragraph + "\n" for paragraph in (doc(kind), after) if paragraph]
    rows = []
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name == "type":
            continue
        default = "" if _required(field) else f"`{_default(field)}`"
        rows.append(f"| `{field.name}` | {_cell(_py(hints[field.name]))} | {default} |")
    if rows:
        lines += ["| field | type | default |", "| --- | --- | --- |", *rows, ""]
    return lines


def _default(field: "dataclasses.Field[Any]") -> str:
    if field.default is dataclasses.MISSING:
        assert field.default_factory is not dataclasses.MISSING
        return repr(field.default_factory())
    return repr(field.default.value if isinstance(field.default, Enum) else field.default)


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _py(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        left = [arg for arg in args if arg is not type(None)]
        for alias, name in _ALIASES:
            if set(left) == set(get_args(alias)):
                return name
        return " | ".join(_py(arg) for arg in left)
    if origin is Literal:
        return " | ".join(repr(value) for value in args)
    if origin is not None:
        inside = ", ".join("…" if arg is ... else _py(arg) for arg in args)
        return f"{origin.__name__}[{inside}]"
    return str(getattr(hint, "__name__", hint))


def doc(kind: type) -> str:
    """A class's docstring on one line; empty where it has none of its own."""
    text = kind.__doc__ or ""
    return "" if text.startswith(f"{kind.__name__}(") else _flat(text)


def _paragraphs(text: str | None) -> str:
    # The first sentence names the module; what follows tells people something.
    _, _, rest = (text or "").partition("\n\n")
    return _flat(rest)


def _flat(text: str) -> str:
    flat = " ".join(text.split()).replace("``", "`")
    return re.sub(r":(?:class|mod|func|meth):`~?([^`]+)`", r"`\1`", flat)


# --- the program ----------------------------------------------------------------------------

FILES: dict[str, Any] = {
    "docs/schema.json": json_schema,
    "docs/reference.md": reference,
    "ui-web/src/bus/schema.gen.ts": typescript,
    "ui-web/src/i18n/problems.fr.ts": problems_in_french,
}


def stale(root: Path) -> list[str]:
    """The generated files that differ from what they should be."""
    return [
        name
        for name, make in FILES.items()
        if not (root / name).exists() or (root / name).read_text(encoding="utf-8") != make()
    ]


def main() -> None:
    """Write the files, or with ``--check`` say which are stale."""
    old = stale(ROOT)
    if "--check" in sys.argv[1:]:
        if old:
            sys.exit(f"stale: {', '.join(old)}; run `make gen`")
        return
    for name in old:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(FILES[name](), encoding="utf-8")
        print(name)  # noqa: T201  a program's output


if __name__ == "__main__":
    main()
