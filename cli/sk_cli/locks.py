"""The services' lock files, seen from outside: whether one is held, by whom, and until when."""

import fcntl
import threading
from pathlib import Path


def is_held(path: Path) -> bool:
    try:
        with path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except BlockingIOError:
        return True
    return False


def becomes_free(path: Path, timeout: float) -> bool:
    """Wait until nobody holds ``path``; ``False`` when somebody still does after ``timeout``."""
    if not is_held(path):
        return True

    def wait() -> None:
        with path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(timeout)
    return not waiting.is_alive()


def holder(path: Path) -> int | None:
    """The pid of the process that holds ``path``; ``None`` when the system doesn't tell."""
    inode = path.stat().st_ino
    try:
        table = Path("/proc/locks").read_text(encoding="ascii")
    except FileNotFoundError:  # macOS
        return None
    for line in table.splitlines():
        # 1: FLOCK  ADVISORY  WRITE 41002 fd:01:131 0 EOF ; a waiting one has "->" in front
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode):
            return int(words[4])
    return None
