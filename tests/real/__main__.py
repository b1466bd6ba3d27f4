"""``python -m tests.real``: install the real agents, try each step with each, print the table.

``--only NAME …`` tries some of them and leaves the docs alone; ``--folder`` is where they are
installed. Fails when anything is not as ``agents.py`` says.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from sk_bus.errors import SidekicksError
from tests.real.agents import AGENTS, Step
from tests.real.installing import InstallError, installed, missing
from tests.real.netless import cut_off, is_cut_off
from tests.real.pair import Pair, meet
from tests.real.table import Found, Outcome, Results, embedded, expected, table
from tests.real.trial import ExampleTrial, Installed, Room, StepError, Trial

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "agents.md"
# Who plays Alice, and who Bob; three runs, and no two are the same.
PAIRS = (("copilot", "gemini"), ("gemini", "opencode"), ("fast-agent", "copilot"))
FEWEST = 5  # agents that must be tried


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=[agent.name for agent in AGENTS])
    parser.add_argument("--folder", type=Path, default=ROOT / ".real-agents")
    parser.add_argument("--no-pairs", action="store_true")
    arguments = parser.parse_args()
    # A word of its own beside HOME, by which this run's processes can be told apart.
    os.environ["OF_TEST_RUN"] = str(os.getpid())
    # Ended from outside, it still sweeps what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = [one for one in AGENTS if not arguments.only or one.name in arguments.only]
    here: dict[str, Installed] = {}
    left_out: dict[str, str] = {}
    for agent in wanted:
        if why := missing(agent):
            left_out[agent.name] = why
            continue
        try:
            here[agent.name] = Installed(agent, installed(agent, arguments.folder.resolve()))
        except InstallError as error:
            print(f"{agent.title} can't be installed.\n{error}", file=sys.stderr)
            return 1
        if not is_cut_off():
            print(f"installed  {agent.title} {agent.version}", flush=True)
    for name, why in left_out.items():
        print(f"left out   {name}: {why}", flush=True)
    if not arguments.only and len(here) < FEWEST:
        print(f"Only {len(here)} agents can be tried here; {FEWEST} are wanted.", file=sys.stderr)
        return 1
    if not cut_off():
        print("The agents can reach the network: this machine lets us cut off nothing.", flush=True)
    results = {name: asyncio.run(tried(one)) for name, one in here.items()}
    meetings = [] if arguments.no_pairs else [_meeting(*pair, here) for pair in PAIRS]
    made = table(results)
    print(f"\n{made}\n")
    for found, words in filter(None, meetings):
        print(f"{found.value} {words}")
    good = all(_is_as_expected(here[name], found) for name, found in results.items())
    good &= all(one[0] is not Found.FAILED for one in meetings if one)
    if good and not left_out and not arguments.only:
        _keep(made)
    print("All is as it should be." if good else "Something is not as it should be: see above.")
    return 0 if good else 1


async def tried(one: Installed) -> Results:
    """Every step with one agent; a failed one isn't the last."""
    agent = one.agent
    print(f"\n{agent.title} {agent.version} ({agent.maker}, {agent.runtime})", flush=True)
    found: dict[Step, Outcome] = {}
    async with Room({agent.name: one}) as room:
        trial = (Trial if agent.has_model else ExampleTrial)(one, room)
        for step, tries in trial.steps.items():
            if not trial.channel and step is not Step.START:
                found[step] = Outcome(Found.LEFT_OUT, "it did not start")
                continue
            began = time.monotonic()
            try:
                async with room.person() as me:
                    await tries(me)
                works = step not in agent.lacks
                outcome = Outcome(*((Found.WORKS,) if works else (Found.LACKS, agent.lacks[step])))
            except (StepError, SidekicksError, TimeoutError, AssertionError) as error:
                outcome = Outcome(Found.FAILED, str(error) or type(error).__name__)
                if not isinstance(error, StepError):
                    traceback.print_exc(limit=-3)
                print(room.instance.logs(4))
            found[step] = outcome
            seconds = time.monotonic() - began
            print(f"  {outcome.found.value} {step} ({seconds:.1f} s) {outcome.words}", flush=True)
        if unknown := set(room.model.unknown):
            print(f"  paths that the model server does not answer: {', '.join(sorted(unknown))}")
    return found


def _meeting(alice: str, bob: str, here: dict[str, Installed]) -> tuple[Found, str] | None:
    if not {alice, bob} <= set(here):
        return None
    pair = Pair(here[alice], here[bob])
    try:
        asyncio.run(meet(pair))
    except (StepError, SidekicksError, TimeoutError, AssertionError) as error:
        return Found.FAILED, f"{pair}: {error or type(error).__name__}"
    return Found.WORKS, f"{pair}"


def _is_as_expected(one: Installed, found: Results) -> bool:
    wanted = expected(one.agent)
    return all(found[step].found is wanted[step].found for step in Step)


def _keep(made: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    anew = embedded(page, made)
    if anew != page:
        PAGE.write_text(anew, encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)} has been brought up to date.")


if __name__ == "__main__":
    sys.exit(main())
