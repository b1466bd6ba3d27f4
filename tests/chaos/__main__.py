"""``python -m tests.chaos --seed N``: one run, its figures, and every problem found."""

import argparse
import sys
from pathlib import Path

from tests.chaos.broken import BROKEN
from tests.chaos.checks import Verdict
from tests.chaos.run import PROGRAMS, Plan, judgement

SHOWN = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--agent", choices=sorted(PROGRAMS), default="demo")
    parser.add_argument("--without", choices=("cas", "replay", *BROKEN), default="")
    parser.add_argument("--dump", type=Path, help="a file for all that was seen")
    arguments = parser.parse_args()
    verdict = judgement(
        Plan(
            seed=arguments.seed,
            seconds=arguments.seconds,
            agent=arguments.agent,
            without=arguments.without,
            dump=arguments.dump,
        )
    )
    print("\n".join(_told(verdict)))
    return 1 if verdict.problems else 0


def _told(verdict: Verdict) -> list[str]:
    killed = ", ".join(f"{name} {count}" for name, count in sorted(verdict.kills.items()))
    return [
        f"kills: {sum(verdict.kills.values())} ({killed})",
        f"events: {verdict.events}, of which {verdict.pruned} were pruned from the journal",
        f"answers: {verdict.answers}, messages: {verdict.messages}",
        f"permissions: {verdict.permissions}, lives of agents: {verdict.lives}",
        f"commands: {verdict.commands}, of which {verdict.repeated} were sent repeatedly",
        f"longest silence of an answer: {verdict.silence_without_supervisor:.2f} s",
        f"longest silence, with the times without supervisord: {verdict.silence:.2f} s",
        f"times that a page was so late that it had to begin anew: {verdict.anew}",
        f"lost = {verdict.lost}",
        f"doubled = {verdict.doubled}",
        f"agents' pids the same: {'yes' if verdict.pids_the_same else 'NO'}",
        *(f"problem: {problem[:600]}" for problem in verdict.problems[:SHOWN]),
        f"problems: {len(verdict.problems)}",
    ]


if __name__ == "__main__":
    sys.exit(main())
