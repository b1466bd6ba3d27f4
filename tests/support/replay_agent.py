"""Plays an agent that was recorded: says what it said, when it is asked what it was asked.

Standard library only: ``python replay_agent.py RECORDING FOLDER [session/resume]``. Nothing is
waited for but the client, so what took a minute takes a moment; the order stays, and what came
after an answer goes out with it, in one write. What happens is written down in ``FOLDER/record``,
a JSON object a line: ``{"said": LINE}`` for each frame that it writes (``null``: one that isn't
recorded), before that; ``{"begun": SCENE}``, ``{"heard": FRAME}``, ``{"unscripted": METHOD}``, and
``{"wrong": WHY}`` for what no client may do.

A life that comes before the one that was recorded opens the sessions which that one takes up.
"""

import contextlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

# Run by its path, it is no part of a package yet.
sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.replay_script import (
    OPENING,
    TAKING_UP,
    UNRECORDED,
    Await,
    Frame,
    Say,
    Scene,
    is_answer,
    read,
)

_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602


class Replay:
    """The agent. Frames come in on the main thread; each scene is played on one of its own."""

    def __init__(self, recording: Path, folder: Path, take_up: str) -> None:
        self._script = read(recording, take_up=take_up)
        self._lives = folder / "lives"
        self._file = (folder / "record").open("a", encoding="utf-8")
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        self._came: set[str] = set()
        self._ended = False
        self._played: list[Scene] = []
        self._playing: dict[str | None, Scene] = {}  # the last scene of each session
        self._over: set[Scene] = set()  # what has been played
        self._asked: set[str] = set()  # sessions whose prompt has no answer yet
        self._threads: list[threading.Thread] = []
        self._made = 0
        self._life = self._count()
        self._earlier = self._script.earlier() if self._life == 0 else []

    def _count(self) -> int:
        """How many lives there were before this one."""
        before = self._lives.stat().st_size if self._lives.exists() else 0
        with self._lives.open("ab") as file:
            file.write(b".")
        return before

    @property
    def _prelude(self) -> bool:
        return self._life == 0 and bool(self._script.earlier())

    # --- in and out -------------------------------------------------------------------------

    def _note(self, **what: Any) -> None:
        self._file.write(json.dumps(what) + "\n")
        self._file.flush()

    def _write(self, frames: list[Frame], lines: list[int | None]) -> None:
        """Write the frames at once; ``lines`` are those of the recording."""
        data = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in frames)
        with self._writing:
            for line in lines:
                self._note(said=line)
            view = memoryview(data.encode("utf-8"))
            while view:
                view = view[os.write(1, view) :]

    def run(self) -> None:
        for line in self._script.stderr:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()
        for line in sys.stdin.buffer:
            frame = json.loads(line)
            with self._writing:
                self._note(heard=frame)
            self._take(frame)
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        # What it was in the middle of ends as it did, unless that waits for more than the end.
        for thread in self._threads:
            thread.join()

    def _take(self, frame: Frame) -> None:
        method, params = frame.get("method"), frame.get("params") or {}
        if method is None:
            self._come(f"reply {json.dumps(frame['id'])}")
        elif method == "session/cancel":
            self._come(f"cancel {params['sessionId']}")
        elif "id" in frame:
            if method == "session/prompt":
                with self._writing:
                    if params["sessionId"] in self._asked:
                        self._note(wrong=f"a prompt in the middle of another: {frame['id']}")
                    self._asked.add(params["sessionId"])
            scene = self._scene(method, params)
            if scene is None:
                self._improvise(frame["id"], method, params)
            else:
                self._begin(scene, frame["id"])

    def _come(self, what: str) -> None:
        with self._changed:
            self._came.add(what)
            self._changed.notify_all()

    # --- what is asked ----------------------------------------------------------------------

    def _scene(self, method: str, params: Frame) -> Scene | None:
        """The scene that the request begins: the first of its kind that hasn't been played."""
        if method == "initialize":
            those = self._script.of("initialize")
            return those[min(self._life, len(those) - 1)]
        if self._prelude or method not in (*OPENING, "session/prompt"):
            return None
        if any(block.get("text") == UNRECORDED for block in params.get("prompt") or ()):
            return None
        for scene in self._script.of(method):
            here = method == "session/new" or scene.session == params["sessionId"]
            if here and scene not in self._played:
                return scene
        return None

    def _improvise(self, id_: Any, method: str, params: Frame) -> None:
        """Answer what the recording knows nothing of."""
        with self._writing:
            self._note(unscripted=method)
        match method:
            case "session/new":
                self._made += 1
                name = self._earlier.pop(0) if self._earlier else f"made-{self._life}-{self._made}"
                self._answer(id_, result={"sessionId": name})
            case "session/prompt":
                self._asked.discard(params["sessionId"])
                self._answer(id_, result={"stopReason": "end_turn"})
            case "session/close":
                self._answer(id_, result={})
            case _ if method in TAKING_UP:
                self._answer(id_, error={"code": _INVALID_PARAMS, "message": "no such session"})
            case _:
                self._answer(id_, error={"code": _METHOD_NOT_FOUND, "message": "no such method"})

    def _answer(self, id_: Any, **how: Any) -> None:
        self._write([{"jsonrpc": "2.0", "id": id_, **how}], [None])

    # --- scenes -----------------------------------------------------------------------------

    def _begin(self, scene: Scene, id_: Any) -> None:
        before = self._playing.get(scene.session)
        with self._writing:
            self._note(begun=self._script.scenes.index(scene))
        self._played.append(scene)
        self._playing[scene.session] = scene
        thread = threading.Thread(target=self._play, args=(scene, id_, before), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _play(self, scene: Scene, id_: Any, before: Scene | None) -> None:
        """Say and wait as in the recording, once the session's scene before has been played."""
        if before is not None and not self._until(lambda: before in self._over):
            return
        pending: list[Say] = []
        answered = False
        for step in scene.steps:
            if isinstance(step, Await):
                self._say(scene, id_, pending)
                pending = []
                if not self._awaited(scene, step):
                    return
            else:
                answered = answered or self._answers(scene, step)
                pending.append(step)
                if not answered:
                    self._say(scene, id_, pending)
                    pending = []
        self._say(scene, id_, pending)
        with self._changed:
            self._over.add(scene)
            self._changed.notify_all()

    def _answers(self, scene: Scene, step: Say) -> bool:
        return is_answer(step.frame) and step.frame["id"] == scene.id

    def _say(self, scene: Scene, id_: Any, steps: list[Say]) -> None:
        frames = []
        for step in steps:
            frame = step.frame
            if self._answers(scene, step):
                frame = frame | {"id": id_}
                if scene.method == "session/prompt" and scene.session is not None:
                    self._asked.discard(scene.session)
            frames.append(frame)
        if frames:
            self._write(frames, [step.line for step in steps])

    def _awaited(self, scene: Scene, step: Await) -> bool:
        if step.what == "eof":
            return self._until(lambda: self._ended)
        key = f"cancel {scene.session}" if step.what == "cancel" else f"reply {json.dumps(step.id)}"
        return self._until(lambda: key in self._came, take=key if step.what == "cancel" else None)

    def _until(self, true: Any, take: str | None = None) -> bool:
        """Wait until it is so; false where the client has gone and it never will be."""
        with self._changed:
            self._changed.wait_for(lambda: true() or self._ended)
            come = bool(true())
            if come and take is not None:
                self._came.discard(take)
            return come


def main() -> None:
    recording, folder, *take_up = sys.argv[1:]
    way = take_up[0] if take_up else "session/load"
    with contextlib.suppress(BrokenPipeError):
        Replay(Path(recording), Path(folder), way).run()


if __name__ == "__main__":
    main()
