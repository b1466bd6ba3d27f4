"""The conclusions: what is wrong with the evidence. Pure but for the files that it names.

Each check yields sentences; a run without a sentence kept its promise.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sk_bus.blobs import BlobStore
from sk_bus.commands import AnswerPermission, Send
from tests.chaos.evidence import Event, Evidence, Seen, Witness, is_public
from tests.chaos.folding import Folded, differ
from tests.chaos.killer import SUPERVISOR
from tests.chaos.records import Life, asked_in

_CATCHING_UP = 3.0  # seconds after a new supervisord is there, for the log to go on


@dataclass(frozen=True, slots=True)
class Verdict:
    """The figures that are printed, and every problem."""

    events: int
    kills: dict[str, int]
    answers: int
    messages: int
    commands: int
    repeated: int
    permissions: int
    lives: int
    pruned: int
    anew: int
    lost: int
    doubled: int
    silence: float
    silence_without_supervisor: float
    pids_the_same: bool
    problems: tuple[str, ...]


def judged(evidence: Evidence) -> Verdict:
    """Look at everything."""
    blobs = BlobStore(evidence.data)

    def whole(text: Any) -> str:
        return blobs.text(text["sha256"]) if isinstance(text, dict) else str(text)

    folded = Folded(whole).fold(evidence.log)
    recorded = evidence.lives
    lost, doubled = 0, 0
    problems = list(evidence.troubles)
    for witness in evidence.witnesses:
        missing, twice, said = _seqs(witness, evidence)
        lost += missing
        doubled += twice
        problems += said
    deaths = list(_deaths(evidence))
    problems += [
        *_epochs(evidence),
        *folded.problems,
        *_commands(evidence),
        *_permissions(evidence),
        *_sends(evidence, folded),
        *_views(evidence, folded),
        *_page(evidence, folded, whole),
        *_stdin(evidence, recorded, whole),
        *_stdout(evidence, recorded, whole),
        *_answers(evidence, folded, recorded),
        *deaths,
        *(f"left running after down: {pid} {line}" for pid, line in evidence.left.items()),
    ]
    return Verdict(
        events=len(evidence.log),
        kills=dict(Counter(target for kill in evidence.kills for target in kill.targets)),
        answers=sum(
            message["role"] == "agent" and message["done"] for message in folded.messages.values()
        ),
        messages=sum(len(view) for view in evidence.views.values()),
        commands=len(evidence.asked),
        repeated=sum(len(asked.outcomes) > 1 for asked in evidence.asked.values()),
        permissions=sum(seen.event["type"] == "permission:requested" for seen in evidence.log),
        lives=len(recorded),
        pruned=max(0, evidence.floor - evidence.witnesses[0].began - 1),
        anew=sum(len(witness.gaps) for witness in evidence.witnesses),
        lost=lost,
        doubled=doubled,
        silence=_silence(evidence, all_of_it=True),
        silence_without_supervisor=_silence(evidence, all_of_it=False),
        pids_the_same=not deaths,
        problems=tuple(problems),
    )


# --- the log ----------------------------------------------------------------------------------


def _seqs(witness: Witness, evidence: Evidence) -> tuple[int, int, list[str]]:
    """(lost, doubled, sentences): against the numbers alone, and against the first witness."""
    wanted = {
        seen.seq: seen.event
        for seen in evidence.log
        if seen.seq > witness.began and (witness.whole or is_public(seen.event))
        if not any(gap.after < seen.seq <= gap.until for gap in witness.gaps)
    }
    counted = Counter(seen.seq for seen in witness.seen)
    if witness.whole and witness.seen:
        holes = set(range(witness.began + 1, witness.seen[-1].seq + 1)) - counted.keys()
    else:
        holes = set()
    missing = (wanted.keys() - counted.keys()) | holes
    twice = {seq for seq, count in counted.items() if count > 1}
    said = []
    if missing:
        said.append(f"{witness.name} missed {len(missing)} events, the first {min(missing)}")
    if twice:
        said.append(f"{witness.name} got {len(twice)} events twice, the first {min(twice)}")
    if any(one.seq >= other.seq for one, other in pairwise(witness.seen)):
        said.append(f"{witness.name} got events out of order")
    other = [
        seen.seq for seen in witness.seen if seen.seq in wanted and wanted[seen.seq] != seen.event
    ]
    if other:
        said.append(f"{witness.name} got another event than the first witness as {other[0]}")
    if witness.resyncs:
        said.append(f"{witness.name} was told to begin anew {witness.resyncs} times")
    said += [
        f"{witness.name} was told to begin anew at {gap.until}, and could go on from {gap.after}"
        for gap in witness.gaps
        if gap.floor <= gap.after + 1
    ]
    frames = Counter(
        (one.event["agent"], one.event["inc"], one.event["end"])
        for one in witness.seen
        if one.event["type"] == "fact:frame"
    )
    again = [frame for frame, count in frames.items() if count > 1]
    if again:
        said.append(f"{witness.name}: {len(again)} frames stand in the log twice: {again[0]}")
    return len(missing), len(twice) + len(again), said


def _epochs(evidence: Evidence) -> Iterator[str]:
    if len(evidence.epochs) != 1:
        yield f"there were {len(evidence.epochs)} epochs, and nothing but processes was killed"


# --- commands ---------------------------------------------------------------------------------


def _commands(evidence: Evidence) -> Iterator[str]:
    results = Counter(
        seen.event["id"] for seen in evidence.log if seen.event["type"] == "cmd:result"
    )
    entries = Counter(
        seen.event["id"]
        for seen in evidence.log
        if seen.event["type"].startswith("cmd:") and seen.event["type"] != "cmd:result"
    )
    for id_, asked in evidence.asked.items():
        if results[id_] != 1:
            yield f"the command {id_} has {results[id_]} results"
        if entries[id_] != 1:
            yield f"the command {id_} stands in the log {entries[id_]} times"
        for failure in asked.failures:
            yield f"the command {id_} failed: {failure}"
        if len({json.dumps([one.seq, repr(one.result)]) for one in asked.outcomes}) > 1:
            yield f"the command {id_} had different outcomes: {asked.outcomes}"


def _permissions(evidence: Evidence) -> Iterator[str]:
    asked: set[str] = set()
    resolved: Counter[str] = Counter()
    for seen in evidence.log:
        if seen.event["type"] == "permission:requested":
            if seen.event["id"] in asked:
                yield f"{seen.event['id']} was asked twice"
            asked.add(seen.event["id"])
        elif seen.event["type"] == "permission:resolved":
            resolved[seen.event["id"]] += 1
    for id_ in asked:
        if resolved[id_] != 1:
            yield f"the permission {id_} was resolved {resolved[id_]} times"
    accepted = Counter(
        one.command.permission
        for one in evidence.asked.values()
        if isinstance(one.command, AnswerPermission)
        and any(outcome.result.ok for outcome in one.outcomes)
    )
    for id_, count in accepted.items():
        if count > 1:
            yield f"{count} answers to the permission {id_} were accepted"


def _sends(evidence: Evidence, folded: Folded) -> Iterator[str]:
    """Each accepted message is there once, and ended once, in order."""
    users = {id_: message for id_, message in folded.messages.items() if message["role"] == "user"}
    accepted = {
        asked.outcomes[0].result.value
        for asked in evidence.asked.values()
        if isinstance(asked.command, Send) and asked.outcomes and asked.outcomes[0].result.ok
    }
    if accepted != users.keys():
        yield (
            f"{len(accepted)} messages were accepted and {len(users)} are there; differing: "
            f"{sorted(accepted ^ users.keys())[:3]}"
        )
    gone = _deleted(evidence)
    ends: dict[str, list[str]] = defaultdict(list)
    for message in folded.messages.values():
        if message["role"] != "user" and message.get("answers"):
            ends[message["answers"]].append(message["agent"])
    for id_, message in users.items():
        if message["channel"] in gone:
            continue  # whatever was to come of it went with the channel
        if message["queued"]:
            yield f"{id_} still waits in the queue"
        dropped = message.get("error") is not None
        if bool(ends[id_]) is dropped:
            yield f"{id_} was {'dropped and answered' if dropped else 'neither'}: {message}"
        if len(set(ends[id_])) < len(ends[id_]):
            yield f"{id_} was answered twice by one: {ends[id_]}"
    for id_, message in folded.messages.items():
        if not message["done"]:
            yield f"{id_} never ended"


def _deleted(evidence: Evidence) -> set[str]:
    """The channels that were there once and aren't any more."""
    told = [
        {channel["id"] for channel in seen.event["channels"]}
        for seen in evidence.log
        if seen.event["type"] == "channels:changed"
    ]
    return set().union(*told) - told[-1] if told else set()


# --- what is shown ----------------------------------------------------------------------------


def _views(evidence: Evidence, folded: Folded) -> Iterator[str]:
    """The history's conversations are the fold of the log."""
    for channel, view in evidence.views.items():
        mine = sorted(
            (one for one in folded.messages.values() if one["channel"] == channel), key=_order
        )
        if [one["id"] for one in view] != [one["id"] for one in mine]:
            yield f"the history has other messages in {channel} than the log"
        for theirs, ours in zip(view, mine, strict=False):
            if theirs != ours:
                yield f"the history has {theirs['id']} otherwise than the log: {theirs} {ours}"


def _order(message: Event) -> tuple[str, int]:
    stem, _, k = message["id"].rpartition(".")
    return stem, int(k)


def _page(evidence: Evidence, folded: Folded, whole: Any) -> Iterator[str]:
    """The page's messages are the log's."""
    for witness in evidence.witnesses:
        # One that began anew has a page's snapshot, which the history answers for.
        if not witness.whole and not witness.gaps:
            page = Folded(whole).fold(witness.seen)
            yield from (f"{witness.name}: {problem}" for problem in page.problems)
            if page.messages != folded.messages:
                yield f"{witness.name} ends with other messages than the log"


# --- the agents' own records ------------------------------------------------------------------


def _life_of(event: Event) -> tuple[str, int]:
    """One input may start two agents: only both together name a life."""
    return event["agent"], event["inc"]


def _incs(evidence: Evidence) -> dict[tuple[str, int], tuple[str, int]]:
    """(agent, pid) → (agent, inc)."""
    return {
        (seen.event["agent"], seen.event["pid"]): _life_of(seen.event)
        for seen in evidence.log
        if seen.event["type"] == "fact:up"
    }


def _stdin(evidence: Evidence, recorded: list[Life], whole: Any) -> Iterator[str]:
    """What each life of an agent received are the lines sent to it, once, in order."""
    sent: dict[tuple[str, int], list[str]] = {}
    for seen in evidence.log:
        if seen.event["type"] == "do:send":
            lines = sent.setdefault(_life_of(seen.event), [])
            if seen.event["n"] != len(lines) + 1:
                yield f"{seen.seq}: line {seen.event['n']} follows line {len(lines)}"
            lines.append(seen.event["line"])
    incs = _incs(evidence)
    for life in recorded:
        inc = incs.get((life.agent, life.pid))
        if inc is None:
            yield f"{life.agent} ran as {life.pid}, and the log doesn't say so"
            continue
        lines = sent.get(inc, [])
        if not _same_lines(life.lines_in, lines[: len(life.lines_in)], whole):
            yield f"{life.agent} as {life.pid} received other lines than were sent to it"
        if len(life.lines_in) < len(lines) and not _exit_of(evidence, inc):
            yield f"{life.agent} as {life.pid} lacks {len(lines) - len(life.lines_in)} lines"


def _same_lines(received: list[str], sent: list[str], whole: Any) -> bool:
    if len(received) != len(sent):
        return False
    return all(
        got == line or _filled_in(json.loads(got), json.loads(line), whole)
        for got, line in zip(received, sent, strict=True)
    )


def _filled_in(got: Any, line: Any, whole: Any) -> bool:
    """Whether ``got`` is ``line`` with its places filled in; what a definition held is secret."""
    match line:
        case {"$def": str()}:
            return True
        case {"$blob": str(sha256)}:
            return bool(got == whole({"sha256": sha256}))
        case dict():
            return (
                isinstance(got, dict)
                and got.keys() == line.keys()
                and all(_filled_in(got[key], value, whole) for key, value in line.items())
            )
        case list():
            return (
                isinstance(got, list)
                and len(got) == len(line)
                and all(_filled_in(one, other, whole) for one, other in zip(got, line, strict=True))
            )
        case _:
            return bool(got == line)


def _stdout(evidence: Evidence, recorded: list[Life], whole: Any) -> Iterator[str]:
    """The frames of a life are the lines that it wrote."""
    frames: dict[tuple[str, int], list[str]] = {}
    for seen in evidence.log:
        if seen.event["type"] == "fact:frame":
            raw = seen.event.get("raw")
            line = seen.event["line"] if raw is None else whole(raw)
            frames.setdefault(_life_of(seen.event), []).append(line)
    incs = _incs(evidence)
    for life in recorded:
        inc = incs.get((life.agent, life.pid))
        heard = frames.get(inc, []) if inc is not None else []
        wrote = life.lines_out
        exited = inc is not None and _exit_of(evidence, inc)
        # One that was ended may have written lines that nobody took any more.
        if heard != (wrote[: len(heard)] if exited else wrote):
            yield (
                f"{life.agent} as {life.pid} wrote {len(wrote)} lines, and {len(heard)} frames "
                f"are in the log ({differ(chr(10).join(wrote), chr(10).join(heard))})"
            )


def _exit_of(evidence: Evidence, life: tuple[str, int]) -> Event | None:
    for seen in evidence.log:
        if seen.event["type"] == "fact:exited" and _life_of(seen.event) == life:
            return seen.event
    return None


def _answers(evidence: Evidence, folded: Folded, recorded: list[Life]) -> Iterator[str]:
    """Every answer's text is, byte for byte, what the agent wrote in that turn."""
    texts: dict[str, Event] = {}
    for message in folded.messages.values():
        if message["role"] == "user":
            texts[folded.text(message)] = message
    answers = {
        (message["answers"], message["agent"]): message
        for message in folded.messages.values()
        if message["role"] == "agent" and message.get("answers")
    }
    turns: Counter[tuple[str, str]] = Counter()
    for life in recorded:
        for turn in life.turns:
            text = asked_in(turn.prompt, list(texts))
            if text is None:
                yield f"{life.agent} was prompted with something nobody said: {turn.prompt[:80]!r}"
                continue
            turns[text, life.agent] += 1
            answer = answers.get((texts[text]["id"], life.agent))
            shown = "" if answer is None else folded.text(answer)
            whole = answer is not None and answer.get("stopReason") == "end_turn"
            if shown != turn.said and (whole or not turn.said.startswith(shown)):
                yield (
                    f"the answer to {text!r} isn't what {life.agent} wrote "
                    f"({differ(turn.said, shown)})"
                )
    for (text, agent), count in turns.items():
        if count > 1:
            yield f"{agent} was asked {text!r} {count} times"
    said = {message["id"]: text for text, message in texts.items()}
    for (id_, agent), answer in answers.items():
        # One that was cancelled before its prompt was sent is asked nobody.
        answered = answer.get("stopReason") not in (None, "cancelled")
        if answered and not turns[said[id_], agent]:
            yield f"{agent} answered {said[id_]!r}, and wasn't asked it"


def _deaths(evidence: Evidence) -> Iterator[str]:
    """No agent ended but by an order of the log."""
    ordered = {_life_of(seen.event) for seen in evidence.log if seen.event["type"] == "do:stop"}
    for seen in evidence.log:
        if seen.event["type"] == "fact:exited":
            event = seen.event
            if _life_of(event) not in ordered or event.get("problem") is not None:
                yield f"{seen.seq}: {event['agent']} ended, and nobody had asked for it: {event}"


# --- how long -----------------------------------------------------------------------------------


def _silence(evidence: Evidence, *, all_of_it: bool) -> float:
    """The longest time between two deltas of an answer in which nobody was asked anything."""
    outages = [
        (kill.at, kill.until + _CATCHING_UP)
        for kill in evidence.kills
        if kill.targets == SUPERVISOR
    ]
    asked = {
        seen.event["messageId"]
        for seen in evidence.log
        if seen.event["type"] == "permission:requested"
    }
    last: dict[str, Seen] = {}
    longest = 0.0
    for seen in evidence.log:
        if seen.event["type"] == "message:delta" and seen.event["messageId"] not in asked:
            before = last.get(seen.event["messageId"])
            last[seen.event["messageId"]] = seen
            if before is not None and (
                all_of_it or not any(at < seen.at and before.at < until for at, until in outages)
            ):
                longest = max(longest, seen.at - before.at)
    return longest
