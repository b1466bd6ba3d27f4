"""Where everything lies: the data of a configuration file, and what belongs to an instance.

An **instance** is ``default``, or a hash of the configuration file named at its start. Its state
directory keeps token, port, pointer and logs; its run directory sockets, locks and definitions.
The **data directory** belongs to a configuration file: journal, history, blobs, spools.
"""

import hashlib
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

# sun_path is 108 bytes on Linux and 104 on macOS, with the closing zero; names below add 24.
_LONGEST_DIRECTORY = (104 if sys.platform == "darwin" else 108) - 1 - 26


class PathsError(Exception):
    """A directory that isn't ours, or that can't be made private."""


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111  Path.home() ignores an empty HOME


def config_home() -> Path:
    """The user's configuration directory, ours not yet appended."""
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config")


def state_home() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or _home() / ".local" / "state")


def default_config() -> Path:
    return config_home() / "sidekicks" / "sidekicks.yaml"


def identity(config: Path) -> str:
    """The file's absolute path as its data directory knows it.

    The folder's real path and the name as given, so that a symlink that is swapped stays the
    same file.
    """
    absolute = Path(os.path.abspath(os.path.expanduser(config)))  # noqa: PTH100, PTH111
    return str(absolute.parent.resolve() / absolute.name)


def hashed(text: str) -> str:
    """16 hexadecimal characters that stand for ``text``."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def data_directory(config: Path) -> Path:
    """The data directory of a configuration file (not made yet)."""
    return config_home() / "sidekicks" / "data" / hashed(identity(config))


def instance_of(config: Path | None) -> str:
    """The instance's name when ``config`` was named at the start, or when none was."""
    return "default" if config is None else hashed(identity(config))


@dataclass(frozen=True)
class Instance:
    """The directories of one instance. :func:`instance` makes them."""

    name: str
    state: Path
    run: Path

    @property
    def token(self) -> Path:
        return self.state / "token"

    @property
    def port(self) -> Path:
        return self.state / "port"

    @property
    def pointer(self) -> Path:
        """Holds the absolute path of the configuration file in force. The bus alone reads it."""
        return self.state / "pointer"

    @property
    def source(self) -> Path:
        """Holds how that file was found: flag, env, remembered, default."""
        return self.state / "source"

    @property
    def runs_in(self) -> Path:
        """Holds the run directory of the last start, for logins that would choose another."""
        return self.state / "run"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def definitions(self) -> Path:
        return self.run / "defs"

    @property
    def requests(self) -> str:
        """The bus's ROUTER socket, as ZeroMQ names it."""
        return f"ipc://{self.run}/bus.req"

    @property
    def publications(self) -> str:
        """The bus's PUB socket."""
        return f"ipc://{self.run}/bus.pub"

    def queries(self, service: str) -> str:
        """The ROUTER socket on which ``service`` answers queries."""
        return f"ipc://{self.run}/{service}.q"

    def lock(self, service: str) -> Path:
        return self.run / f"{service}.lock"

    @property
    def head(self) -> Path:
        """The bus's high water, beside the boot it belongs to."""
        return self.run / "head"

    @property
    def supervisor_socket(self) -> Path:
        return self.run / "sup.sock"

    @property
    def supervisor_pid(self) -> Path:
        return self.run / "sup.pid"


def instance(name: str = "") -> Instance:
    """The instance ``name`` (default: ``SK_INSTANCE``), its directories made and private."""
    name = name or os.environ.get("SK_INSTANCE") or "default"
    state = state_home() / "sidekicks" / name
    made = Instance(name=name, state=state, run=_run_directory(name, state))
    for directory in (made.state, made.run, made.logs, made.definitions):
        private(directory)
    return made


def _run_directory(name: str, state: Path) -> Path:
    # A login without XDG_RUNTIME_DIR (su, cron) must find what one with it has started.
    remembered = state / "run"
    if remembered.is_file():
        run = Path(remembered.read_text(encoding="utf-8").strip())
        if run.is_absolute() and run.is_dir():
            return run
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        run = Path(runtime) / "sidekicks" / name
        if len(os.fsencode(run)) <= _LONGEST_DIRECTORY:
            return run
    # Short, private, and the same for the same state directory.
    short = Path("/tmp") / f"sk-{os.getuid()}"  # noqa: S108  private() checks its owner and mode
    return private(short) / hashed(str(state))


def private(directory: Path) -> Path:
    """Make ``directory`` with mode 0700, or check that it is ours.

    Raises:
        PathsError: it belongs to somebody else, or is no directory.
    """
    # One by one: parents that mkdir makes by itself get the mode of anybody's folder.
    for folder in (*reversed(directory.parents), directory):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    info = directory.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise PathsError(
            f"{directory} is not a directory of yours; remove it or set XDG_RUNTIME_DIR"
        )
    if stat.S_IMODE(info.st_mode) & 0o077:
        directory.chmod(0o700)
    return directory
