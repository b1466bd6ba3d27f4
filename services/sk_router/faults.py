"""Inputs that the decider failed on: a fault of ours, which must not end the router for ever.

The state after a failure is worth nothing, so the router ends and folds it anew. What is written
here makes it go on all the same: a batch that failed is decided input by input, and an input that
failed by itself is set aside, once, in the log. Nothing here knows what an input means.
"""

import json
from pathlib import Path
from typing import Any


class Faults:
    """``router.faults`` of one data directory, for one epoch."""

    def __init__(self, directory: Path, epoch: int) -> None:
        self._path = directory / "router.faults"
        self._epoch = epoch
        known = _read(self._path)
        ours = known.get("epoch") == epoch
        self._batches: set[int] = set(known.get("batches", ())) if ours else set()
        self._inputs: set[int] = set(known.get("inputs", ())) if ours else set()

    def failed_in(self, first: int) -> bool:
        """Whether the batch that begins at ``first`` failed: its inputs are decided alone."""
        return first in self._batches

    def set_aside(self, seq: int) -> bool:
        """Whether the input failed by itself: it isn't decided on any more."""
        return seq in self._inputs

    @property
    def any(self) -> bool:
        """Whether an input of this epoch was set aside."""
        return bool(self._inputs)

    def batch_failed(self, first: int) -> None:
        self._batches.add(first)
        self._write()

    def input_failed(self, seq: int) -> None:
        self._inputs.add(seq)
        self._write()

    def _write(self) -> None:
        draft = self._path.with_suffix(".draft")
        made = {
            "epoch": self._epoch,
            "batches": sorted(self._batches),
            "inputs": sorted(self._inputs),
        }
        draft.write_text(json.dumps(made), encoding="utf-8")
        draft.replace(self._path)


def _read(path: Path) -> dict[str, Any]:
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return made if isinstance(made, dict) else {}
