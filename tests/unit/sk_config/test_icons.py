"""What a page gets of an agent's icon that is an image, and what it doesn't."""

import base64
from pathlib import Path

import pytest

from sk_bus.errors import RefusedError
from sk_config.icons import MOST, read

PNG = b"\x89PNG\r\n\x1a\n and the rest"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\n\x00\x0a\x00WEBPVP8 ", "image/webp"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        (b'\xef\xbb\xbf\n<?xml version="1.0"?><svg/>', "image/svg+xml"),
    ],
)
def test_an_image_is_known_by_its_first_bytes(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / "owl.of-any-name"
    path.write_bytes(data)
    view = read(str(path))
    assert (view.mimeType, base64.b64decode(view.data)) == (kind, data)


def refused(icon: str) -> str:
    with pytest.raises(RefusedError) as error:
        read(icon)
    return error.value.problem.id


def test_what_is_no_image_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("-----BEGIN PRIVATE KEY-----")
    (tmp_path / "page").write_text("<html><script>")
    (tmp_path / "big").write_bytes(PNG + bytes(MOST))
    assert refused("🦉") == "no-image"
    assert refused(str(tmp_path / "key")) == "no-image"
    assert refused(str(tmp_path / "page")) == "no-image"
    assert refused(str(tmp_path)) == "no-image"
    assert refused(str(tmp_path / "none")) == "unreadable"
    assert refused("/with a \0 in it") == "unreadable"
    assert refused(str(tmp_path / "big")) == "big-icon"
