"""Lines for a terminal of some width, broken between words where that can be. Pure."""

from collections.abc import Callable


def wrapped(line: str, width: int, cells: Callable[[str], int]) -> list[str]:
    """``line`` as rows of at most ``width``; ``cells`` says how wide a text is shown.

    A row begins as deep as the line does, so that a list stays one to the eye. A word that is wider
    than a row is broken.
    """
    if cells(line) <= width or width < 2:
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))]
    if cells(indent) * 2 > width:
        indent = ""
    rows: list[str] = []
    row = ""
    for word in _words(line):
        if cells(row + word.rstrip(" ")) <= width:
            row += word
            continue
        if row.strip():
            rows.append(row.rstrip(" "))
            row = indent
        for piece in _pieces(word, width - cells(row), width - cells(indent), cells):
            if cells(row + piece.rstrip(" ")) > width:
                rows.append(row)
                row = indent
            row += piece
    return [*rows, row] if row.strip() else rows


def _words(line: str) -> list[str]:
    """The words, each with the spaces behind it (and the first with those before)."""
    words: list[str] = []
    for piece in line.split(" "):
        if words and piece == "":
            words[-1] += " "
        else:
            if words:
                words[-1] += " "
            words.append(piece)
    return words


def _pieces(word: str, first: int, width: int, cells: Callable[[str], int]) -> list[str]:
    """A word cut: the first piece has at most ``first`` cells, each other one ``width``."""
    if cells(word.rstrip(" ")) <= first:
        return [word]
    pieces = [""]
    room = first
    for character in word:
        if pieces[-1] and cells(pieces[-1] + character) > room and character != " ":
            pieces.append("")
            room = width
        pieces[-1] += character
    return pieces
