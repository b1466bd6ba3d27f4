"""Which characters of a text are code or belong to a URL, where an ``@`` is no mention.

Markdown as CommonMark reads it: code spans, fenced blocks (also unclosed, quoted or in a list),
indented blocks. One pass over the lines and one over the backticks, so that a long text costs what
it is long.
"""

import re
from collections import deque
from dataclasses import dataclass

_QUOTE = re.compile(r" {0,3}>[ \t]?")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?=[ \t\r\n]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t\r\n]|$)")
_TICKS = re.compile(r"`+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
# Whitespace, what may not stand in a URL, and punctuation outside of ASCII.
_BEYOND_URL = re.compile(r"[\s<>\"`{}|\\^]|[^\x00-\x7f\w]")
_HOST = re.compile(r"(?<![\w.])www\.(?=\w)", re.IGNORECASE)
_LONGEST_SCHEME = 32
_MOST_NESTED = 32


def masked(text: str) -> bytearray:
    """A byte for each character: 1 where it is code, or part of a URL."""
    mask = bytearray(len(text))
    if "`" in text or "~~~" in text or "    " in text or "\t" in text:
        _Blocks(text, mask).read()
    _mask_urls(text, mask)
    return mask


@dataclass(slots=True)
class _Fence:
    """An open fenced block: how it ends, and the containers that it stands in."""

    character: str
    length: int
    quotes: int
    indent: int


class _Blocks:
    """The blocks of a text, line by line."""

    def __init__(self, text: str, mask: bytearray) -> None:
        self._text = text
        self._mask = mask
        self._fence: _Fence | None = None
        self._paragraph: list[tuple[int, int]] = []
        self._quotes = 0
        self._item = 0  # column where the content of the list item begins; 0 outside
        self._blank = True

    def read(self) -> None:
        for line in _LINE.finditer(self._text):
            start, end = line.span()
            if self._fence is not None and self._fenced(start, end):
                continue
            self._line(start, end)
        self._end_paragraph()

    def _fenced(self, start: int, end: int) -> bool:
        """Take a line of the open block; false where its container has ended before it."""
        fence = self._fence
        assert fence is not None
        at = start
        for _ in range(fence.quotes):
            quote = _QUOTE.match(self._text, at, end)
            if quote is None:
                self._fence = None
                return False
            at = quote.end()
        rest = self._text[at:end]
        if fence.indent and rest.strip() and _indent(rest) < fence.indent:
            self._fence = None
            return False
        _cover(self._mask, start, end)
        inner = rest.strip()
        closes = set(inner) == {fence.character} and len(inner) >= fence.length
        if closes and _indent(rest) - fence.indent <= 3:
            self._fence = None
            self._blank = True
        return True

    def _line(self, start: int, end: int) -> None:
        at, quotes = start, 0
        while quotes < _MOST_NESTED and (quote := _QUOTE.match(self._text, at, end)):
            at, quotes = quote.end(), quotes + 1
        rest = self._text[at:end]
        if quotes != self._quotes and rest.strip():
            # A line without its mark may carry on a quoted paragraph; the text is the same then.
            if quotes > self._quotes or not self._paragraph:
                self._end_paragraph()
                self._item = 0
            self._quotes = quotes
        if not rest.strip():
            self._end_paragraph()
            self._blank = True
            return
        if self._indented(rest):
            _cover(self._mask, start, end)
            return
        at = self._items(at, end)
        rest = self._text[at:end]
        fence = _FENCE.match(rest.lstrip(" \t")) if self._item else _FENCE.match(rest)
        if fence is not None:
            self._end_paragraph()
            run = fence[1]
            self._fence = _Fence(run[0], len(run), quotes, self._item)
            _cover(self._mask, start, end)
            return
        if _HEADING.match(rest):
            self._end_paragraph()
            self._paragraph.append((at, end))
            self._end_paragraph()
        else:
            self._paragraph.append((at, end))
        self._blank = False

    def _indented(self, rest: str) -> bool:
        """Whether a line is indented code: four columns in, and no paragraph goes on in it."""
        if self._paragraph or not self._blank:
            return False
        return _indent(rest) >= self._item + 4

    def _items(self, at: int, end: int) -> int:
        """Pass over the marks of list items; where the content begins."""
        rest = self._text[at:end]
        indent = _indent(rest)
        if self._item and indent < self._item and self._blank and not _ITEM.match(rest):
            self._item = 0
        for _ in range(_MOST_NESTED):
            spaces = len(rest) - len(rest.lstrip(" \t"))
            item = _ITEM.match(rest[spaces:])
            if item is None:
                break
            self._end_paragraph()
            self._blank = True
            content = rest[spaces + item.end() :]
            gap = _indent(content)
            self._item = indent + item.end() + (gap if 1 <= gap <= 4 and content.strip() else 1)
            step = spaces + item.end() + min(len(content) - len(content.lstrip(" \t")), 4)
            at, rest = at + step, rest[step:]
            indent = self._item
        return at

    def _end_paragraph(self) -> None:
        if self._paragraph:
            _mask_spans(self._text, self._paragraph, self._mask)
            self._paragraph = []


def _mask_spans(text: str, lines: list[tuple[int, int]], mask: bytearray) -> None:
    """Cover the code spans of a paragraph: a run of backticks to the next one of its length."""
    runs = [found.span() for start, end in lines for found in _TICKS.finditer(text, start, end)]
    places: dict[int, deque[int]] = {}
    for index, (start, end) in enumerate(runs):
        places.setdefault(end - start, deque()).append(index)
    index = 0
    while index < len(runs):
        start, end = runs[index]
        if _escaped(text, start):
            start += 1
        closers = places.get(end - start, deque())
        while closers and closers[0] <= index:
            closers.popleft()
        if start == end or not closers:
            index += 1
            continue
        index = closers.popleft()
        _cover(mask, start, runs[index][1])
        index += 1


def _escaped(text: str, at: int) -> bool:
    slashes = 0
    while at - 1 - slashes >= 0 and text[at - 1 - slashes] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _mask_urls(text: str, mask: bytearray) -> None:
    """Cover each URL from its scheme, or its ``www.``, to the end of what may stand in one."""
    at = -1
    while (at := text.find("://", at + 1)) >= 0:
        scheme = _SCHEME.search(text, max(at - _LONGEST_SCHEME, 0), at)
        if scheme is not None:
            at = _cover_url(text, scheme.start(), at + 3, mask) - 1
    for host in _HOST.finditer(text):
        _cover_url(text, host.start(), host.end(), mask)


def _cover_url(text: str, start: int, at: int, mask: bytearray) -> int:
    beyond = _BEYOND_URL.search(text, at)
    end = beyond.start() if beyond else len(text)
    _cover(mask, start, end)
    return max(end, at)


def _cover(mask: bytearray, start: int, end: int) -> None:
    mask[start:end] = b"\x01" * (end - start)


def _indent(line: str) -> int:
    """The column of the first character that is no space or tab."""
    column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 4 - column % 4
        else:
            break
    return column
