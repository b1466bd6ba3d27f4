"""Play recordings of agents against a whole Sidekicks: ``python -m tests.replay PATH… [--resume]``.

A path is a recording, or a folder of them. Prints a line for each, and what is wrong; ends 1 where
anything is.
"""

import argparse
import asyncio
import sys
from collections.abc import Collection
from pathlib import Path

import yaml

from sk_bus.model import AgentName
from tests.support.conversing import person
from tests.support.instance import TestInstance
from tests.support.replaying import Played, Recording, play

_AT_ONCE = 8
_MOST_AGENTS = 60  # a configuration holds no more than 100


def recordings(files: list[Path], folder: Path, resumed: Collection[str]) -> list[Recording]:
    """An agent for each file; those whose names are among ``resumed`` resume their sessions."""
    return [
        Recording(
            file.resolve(),
            AgentName(f"r{at}"),
            folder / str(at),
            "session/resume" if file.stem in resumed else "session/load",
        )
        for at, file in enumerate(files)
    ]


def configuration(played: list[Recording]) -> str:
    """A configuration in which each recording is an agent."""
    agents = [one.definition(sys.executable) for one in played]
    return yaml.safe_dump({"limits": {"maxRunningAgents": len(agents) + 1}, "agents": agents})


async def all_played(instance: TestInstance, which: list[Recording]) -> list[Played]:
    """Play recordings, a few at once."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(recording: Recording) -> Played:
        async with places, person(instance.paths) as me:
            return await play(me, recording)

    async with person(instance.paths, past=True) as me:
        await me.becomes(which[-1].agent, "stopped")
    return list(await asyncio.gather(*map(one, which)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.replay", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--resume", action="store_true", help="resume sessions, not load them")
    given = parser.parse_args()
    files = [file for path in given.paths for file in (sorted(path.glob("*.jsonl")) or [path])]
    wrong = False
    for at in range(0, len(files), _MOST_AGENTS):
        wrong = _played(files[at : at + _MOST_AGENTS], resume=given.resume) or wrong
    return int(wrong)


def _played(files: list[Path], *, resume: bool) -> bool:
    """Play these in an instance of their own and say what came of it; whether any was wrong."""
    with TestInstance(config=None) as instance:
        resumed = {file.stem for file in files if resume}
        which = recordings(files, instance.directory / "replays", resumed)
        instance.config.write_text(configuration(which))
        instance.up()
        results = asyncio.run(all_played(instance, which))
    for recording, result in zip(which, results, strict=True):
        print(
            f"{'wrong' if result.wrong else 'right'} {recording.path.stem}: {result.scenes} scenes,"
            f" {result.frames} frames, {result.not_asked} answers to what is never asked"
        )
        for what in result.wrong:
            print(f"      {what}")
    sys.stdout.flush()
    return any(result.wrong for result in results)


if __name__ == "__main__":
    sys.exit(main())
