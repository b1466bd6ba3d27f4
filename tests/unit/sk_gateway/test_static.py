"""The built page: what is served, how long it is kept, and what can't be reached."""

import gzip
import os
from pathlib import Path

import pytest

from sk_gateway.static import Pages


@pytest.fixture
def built(tmp_path: Path) -> Path:
    root = tmp_path / "static"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html>" + "x" * 2000)
    (root / "assets" / "main-abc123.js").write_text("let x = 1;" * 300)
    (root / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    return root


def headers(root: Path, path: str) -> dict[str, str]:
    return dict(Pages(root).file(path, packed=True).headers)


def test_the_page_is_asked_for_each_time_and_its_assets_never_again(built: Path) -> None:
    assert headers(built, "/")["cache-control"] == "no-cache"
    assert headers(built, "/icon.svg")["cache-control"] == "no-cache"
    assert "immutable" in headers(built, "/assets/main-abc123.js")["cache-control"]


def test_types_do_not_depend_on_the_machine(built: Path) -> None:
    assert headers(built, "/")["content-type"] == "text/html; charset=utf-8"
    assert headers(built, "/assets/main-abc123.js")["content-type"].startswith("text/javascript")
    assert headers(built, "/icon.svg")["content-type"] == "image/svg+xml"


def test_texts_are_packed_for_who_takes_gzip(built: Path) -> None:
    pages = Pages(built)
    packed = pages.file("/", packed=True)
    plain = pages.file("/", packed=False)
    assert dict(packed.headers)["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert "content-encoding" not in dict(plain.headers)


def test_a_page_that_was_built_anew_is_served_anew(built: Path) -> None:
    pages = Pages(built)
    pages.file("/", packed=True)
    (built / "index.html").write_text("y" * 3000)
    os.utime(built / "index.html", ns=(1, 1))
    assert gzip.decompress(pages.file("/", packed=True).body) == b"y" * 3000


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "//etc/passwd",
        "/link.txt",
        "/assets",
        "/nothing.js",
        "/nul\0byte",
        "/" + "x" * 5000,
    ],
)
def test_nothing_outside_is_served(built: Path, path: str) -> None:
    file = Pages(built).file(path, packed=False)
    assert file.status == 404
    assert b"secret" not in file.body


def test_a_missing_page_says_how_to_build_it(tmp_path: Path) -> None:
    file = Pages(tmp_path / "nowhere").file("/", packed=False)
    assert file.status == 404
    assert b"make ui" in file.body
