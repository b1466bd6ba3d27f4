"""What of a text is code or a URL: there an @ is no mention."""

import pytest

from sk_router.channels.code import masked


def plain(text: str) -> str:
    """The text without what is masked."""
    return "".join(c for c, hidden in zip(text, masked(text), strict=True) if not hidden)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # spans
        ("a `x` b", "a  b"),
        ("a ``x ` y`` b", "a  b"),
        ("a `x b", "a `x b"),
        ("a ``x` b", "a ``x` b"),
        ("a `x\ny` b", "a  b"),
        ("a `x\n\ny` b", "a `x\n\ny` b"),
        (r"a \`x` b", r"a \`x` b"),
        (r"a \\`x` b", r"a \\ b"),
        (r"a `x\` b", "a  b"),
        ("- `a\n- b` c", "- `a\n- b` c"),
        ("# `a\nb` c", "# `a\nb` c"),
        ("> `a\n> b` c", ">  c"),
        # fences
        ("```\nx\n```\nafter", "after"),
        ("~~~\nx\n~~~\nafter", "after"),
        ("````\n```\nx\n````\nafter", "after"),
        ("```\nx\n~~~\ny", ""),
        ("```\nx\n``\ny", ""),
        ("```py\nx `y\n```\n`z` w", " w"),
        ("before\n```\nx", "before\n"),
        ("``` `x`\ny", "``` \ny"),
        ("~~~ `x`\ny", ""),
        ("   ```\nx\n   ```\nafter", "after"),
        ("a\n    ```\nb", "a\n    ```\nb"),
        ("> ```\n> x\n> ```\n> after", "> after"),
        ("> ```\n> x\nafter", "after"),
        ("- ```\n  x\n  ```\n  after", "  after"),
        ("- ```\n  x\nafter", "after"),
        ("1. a\n\n   ```\n   x\n   ```\n\nafter", "1. a\n\n\nafter"),
        ("```\r\nx\r\n```\r\nafter", "after"),
        # indented blocks
        ("    x\nafter", "after"),
        ("\tx\nafter", "after"),
        ("a\n    x", "a\n    x"),
        ("a\n\n    x\n\n    y\nb", "a\n\n\nb"),
        ("- a\n\n  b\n\n      x\n\n  c", "- a\n\n  b\n\n\n  c"),
        ("- a\n\n    b", "- a\n\n    b"),
        ("> a\n>\n>     x\n> b", "> a\n>\n> b"),
        # URLs
        ("see https://x.example/@bob?u=@a now", "see  now"),
        ("(https://x.example/@bob) now", "( now"),
        ("https://x.example/@bob。now", "。now"),
        ("www.x.example/@bob now", " now"),
        ("ssh://@bob/x now", " now"),
        ("wwwx @bob", "wwwx @bob"),
        ("a :// @bob", "a :// @bob"),
    ],
)
def test_what_is_left_is_text(text: str, left: str) -> None:
    assert plain(text) == left
