"""Stands between a holder and an agent, and writes down every byte that passes.

``python recorder.py DIRECTORY NAME COMMAND…``: stdin goes to ``NAME.PID.in``, stdout to
``NAME.PID.out``. A program of its own, which imports nothing of Sidekicks.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path


def main() -> None:
    directory, name, *command = sys.argv[1:]
    stem = f"{name}.{os.getpid()}"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        inward = (0, agent.stdin.fileno(), Path(directory) / f"{stem}.in")
        threading.Thread(target=_pass, args=inward, daemon=True).start()
        _pass(agent.stdout.fileno(), 1, Path(directory) / f"{stem}.out", close=False)
        code = agent.wait()
    os._exit(code if code >= 0 else 128 - code)


def _pass(source: int, target: int, record: Path, *, close: bool = True) -> None:
    """Pass everything on, written down before it is passed."""
    with record.open("ab", buffering=0) as file:
        while data := os.read(source, 1 << 16):
            file.write(data)
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(target, view) :]
            except BrokenPipeError:
                return  # whoever read it is gone; the end comes from there
    if close:
        os.close(target)


if __name__ == "__main__":
    main()
