"""An export for people, as Markdown: who said what and when; thoughts and tool calls folded.

What people and agents wrote stands as they wrote it. What they left open (a block of code, a
comment) is closed behind it, so that one message can't swallow the next; everything else stands in
fences that are longer than any within.
"""

import difflib
import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from sk_bus.codec import value_of
from sk_bus.french import in_french
from sk_bus.model import Channel, Problem
from sk_history.texts import Plain, Whole
from sk_history.wording import Language, said

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")
_HALVES = re.compile("[\ud800-\udfff]")
_TICKS = re.compile("`+")
# What these say is whole in their problem, with the particulars; the code alone would say it twice.
_SAID_BY_PROBLEM = frozenset({"no-recipient", "permission-ruled"})
# Lines of a change that are worth comparing; of a longer one the new text is shown.
_COMPARED = 3_000


class Markdown:
    """The form for people, in one language."""

    def __init__(self, language: Language) -> None:
        self._language: Language = language

    def opening(self) -> str:
        return ""

    def channel(self, channel: Channel) -> str:
        title = self._said("direct", agent=channel.direct) if channel.direct else f"#{channel.name}"
        pieces = [f"# {_escaped(title)}"]
        if channel.description:
            pieces.append(_escaped(channel.description))
        if not channel.direct and channel.members:
            pieces.append(self._said("members", names=_escaped(", ".join(channel.members))))
        return _joined(pieces)

    def message(self, message: Plain, whole: Whole) -> str:
        # Half of a surrogate pair is nothing that a file for people could hold.
        return _HALVES.sub("\ufffd", self._message(message, whole))

    def _message(self, message: Plain, whole: Whole) -> str:
        moment = datetime.fromtimestamp(message["createdAt"] / 1000, UTC)
        when = moment.strftime("%Y-%m-%d %H:%M:%S UTC")
        agent = _escaped(message.get("agent", ""))
        if message["role"] == "system":
            what = self._said(message.get("code") or "", agent=agent)
            why = self._problem(message)
            if why:
                once = message.get("code") in _SAID_BY_PROBLEM
                what = why if once else self._said("is", what=what, why=why)
            return _joined([f"*{what} · {when}*"])
        author = self._said("you") if message["role"] == "user" else agent
        pieces = [f"## {author} · {when}"]
        for part in message["parts"]:
            pieces += self._part(part, whole)
        why = self._problem(message)
        if why:
            pieces.append(f"> {self._said('error', why=why)}")
        elif message.get("stopReason") == "cancelled":
            pieces.append(f"> {self._said('cancelled')}")
        elif message.get("stopReason") not in (None, "end_turn"):
            pieces.append(f"> {self._said('stopped', reason=_escaped(message['stopReason']))}")
        return _joined(pieces)

    def _said(self, key: str, **params: str) -> str:
        return said(key, self._language, **params)

    def _problem(self, message: Plain) -> str:
        if not message.get("error"):
            return ""
        why = value_of(Problem, message["error"])
        text = (in_french(why) if self._language == "fr" else None) or why.message
        return " ".join(_escaped(text).split())

    # --- parts ---------------------------------------------------------------------------

    def _part(self, part: Plain, whole: Whole) -> Iterator[str]:
        match part:
            case {"type": "text", "text": text}:
                yield closed(_text(text, whole))
            case {"type": "thought", "text": text}:
                yield _folded(self._said("thought"), [fenced(_text(text, whole))])
            case {"type": "tool", "tool": tool}:
                yield self._tool(tool, whole)
            case {"type": "plan", "steps": steps}:
                yield f"**{self._said('plan')}**"
                yield "\n".join(_step(step) for step in steps)
            case {"type": "image", **rest}:
                shown = self._said("image", kind=rest.get("mimeType", ""))
                yield f"{_escaped(shown)} {_code(rest.get('uri') or '')}".rstrip()
            case {"type": "resource", **rest}:
                yield _code(rest.get("name") or rest.get("uri", ""))
                text = _text(rest.get("text"), whole)
                if text:
                    yield _folded(rest.get("uri", ""), [fenced(text)])
            case _:
                raw = json.dumps(part.get("raw", {}), ensure_ascii=False, indent=1)
                yield _folded(self._said("other"), [fenced(raw, "json")])

    def _tool(self, tool: Plain, whole: Whole) -> str:
        pieces = []
        places = [
            f"{one['path']}:{one['line']}" if one.get("line") else one["path"]
            for one in tool.get("locations", ())
        ]
        if places:
            pieces.append("\n".join(f"- {_code(place)}" for place in dict.fromkeys(places)))
        given = _text(tool.get("input"), whole)
        if given:
            pieces += [f"{self._said('input')}:", fenced(given, "json")]
        for diff in tool.get("diffs", ()):
            pieces.append(fenced(_compared(diff, whole), "diff"))
        output = _text(tool.get("output"), whole)
        if output:
            pieces += [f"{self._said('output')}:", fenced(output)]
        state = tool.get("ended") or tool.get("status", "")
        heading = f"{tool.get('kind', 'other')}: {tool.get('title') or tool['id']} ({state})"
        return _folded(heading, pieces)


def closed(text: str) -> str:
    """A message's text, with what it left open closed behind it."""
    fence = ""
    comment = False
    for line in text.splitlines():
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif comment:
            comment = "-->" not in line
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
        elif "<!--" in line:
            comment = "-->" not in line[line.index("<!--") :]
    end = f"\n{fence}" if fence else "\n-->" if comment else ""
    return text.rstrip("\n") + end


def fenced(text: str, language: str = "") -> str:
    """``text`` in a fence that nothing in it can close."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _folded(summary: str, pieces: list[str]) -> str:
    line = " ".join(html.escape(summary, quote=False).split())
    return _joined(["<details>", f"<summary>{line}</summary>", *pieces, "</details>"]).rstrip("\n")


def _compared(diff: Plain, whole: Whole) -> str:
    path = diff["path"]
    before, now = _text(diff.get("oldText"), whole), _text(diff.get("newText"), whole)
    old, new = before.splitlines(), now.splitlines()
    if len(old) + len(new) > _COMPARED:
        old = []
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join(lines) or path


def _step(step: Plain) -> str:
    done = "x" if step.get("status") == "completed" else " "
    return f"- [{done}] {' '.join(_escaped(step['content']).split())}"


def _text(text: object, whole: Whole) -> str:
    match text:
        case str():
            return text
        case dict():
            return whole(text)
        case _:
            return ""


def _code(text: str) -> str:
    """``text`` as code within a line."""
    line = " ".join(text.split())
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _joined(pieces: list[str]) -> str:
    return "\n\n".join(piece for piece in pieces if piece) + "\n\n"
