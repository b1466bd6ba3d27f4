"""What the demo agent can show, each a generator of steps, and what ``long`` says to the last byte.

Nothing here knows of pipes or time, nor by which word a scene is called.
"""

import base64

from sk_demo.picture import gradient
from sk_demo.steps import (
    Ask,
    Crash,
    Fail,
    Memory,
    Pause,
    Scene,
    Update,
    called,
    planned,
    progressed,
    said,
    shown,
    thought,
)

LONGEST = 100_000
_WORDS = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty",
    "kelp", "larch", "maple", "north", "ocean", "pearl", "quartz", "river", "stone", "tide",
)  # fmt: skip


def long_text(count: int) -> str:
    """What ``long <count>`` says, to the last byte: a checker may compare."""
    lines = []
    for first in range(1, count + 1, 10):
        numbers = range(first, min(first + 10, count + 1))
        lines.append(" ".join(f"{n}:{_WORDS[n % len(_WORDS)]}" for n in numbers))
    return "\n".join(lines)


def plan(memory: Memory, argument: str) -> Scene:
    del memory, argument
    steps = ("Look at what is there", "Change one thing", "Check that it works")
    priorities = ("high", "medium", "low")
    yield from said("I work by a plan; watch its steps.\n\n")
    for current in range(len(steps) + 1):
        yield planned(
            *(
                (content, priority, _plan_status(index, current))
                for index, (content, priority) in enumerate(zip(steps, priorities, strict=True))
            )
        )
        if current < len(steps):
            yield Pause(beats=20)
            yield from said(f"{current + 1}. {steps[current]}: done.\n")
    yield from said("\nAll three steps are done.")
    return "end_turn"


def _plan_status(index: int, current: int) -> str:
    if index < current:
        return "completed"
    return "in_progress" if index == current else "pending"


def think(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from thought(
        "The question is whether thoughts are part of the answer. They are sent apart from it, so "
        "a client can fold them away. I would rather be brief than complete: one thought, then "
        "one sentence.\n\nThat should do."
    )
    yield from said("I thought about it first. You find my thoughts folded above this answer.")
    return "end_turn"


def tool(memory: Memory, argument: str) -> Scene:
    del argument
    read, search = memory.tool_id(), memory.tool_id()
    yield from said("I read a file, then search in others (both only in my imagination).\n\n")
    yield called(
        read,
        "Read src/greeting.py",
        "read",
        locations=[{"path": "/demo/src/greeting.py", "line": 1}],
        rawInput={"path": "/demo/src/greeting.py"},
    )
    yield progressed(read, "in_progress")
    yield progressed(
        read, "completed", content=shown('```python\ndef greet() -> str:\n    return "Hello"\n```')
    )
    yield called(search, "Search for greet(", "search", rawInput={"pattern": "greet("})
    yield progressed(search, "in_progress")
    yield progressed(
        search,
        "completed",
        content=shown("2 places"),
        locations=[
            {"path": "/demo/src/app.py", "line": 12},
            {"path": "/demo/tests/test_greeting.py", "line": 4},
        ],
        rawOutput={"matches": 2},
    )
    yield from said("`greet` is used in two places: `src/app.py` and its test.")
    return "end_turn"


_OLD = 'def greet() -> str:\n    return "Hello"\n'
_NEW = 'def greet(name: str = "world") -> str:\n    return f"Hello, {name}!"\n'


def diff(memory: Memory, argument: str) -> Scene:
    del argument
    edit = memory.tool_id()
    path = "/demo/src/greeting.py"
    yield from said("I change a function and write a test for it.\n\n")
    yield called(edit, "Edit src/greeting.py", "edit", locations=[{"path": path, "line": 1}])
    yield progressed(edit, "in_progress")
    yield progressed(
        edit,
        "completed",
        content=[
            {"type": "diff", "path": path, "oldText": _OLD, "newText": _NEW},
            {
                "type": "diff",
                "path": "/demo/tests/test_greeting.py",
                "newText": 'def test_greet() -> None:\n    assert greet("you") == "Hello, you!"\n',
            },
        ],
    )
    yield from said("One file changed, one is new. (No file of yours was touched.)")
    return "end_turn"


ALLOW_ALWAYS = "allow-always"
_OPTIONS = (
    {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": ALLOW_ALWAYS, "name": "Allow for this conversation", "kind": "allow_always"},
    {"optionId": "reject-once", "name": "Refuse", "kind": "reject_once"},
)


def permission(memory: Memory, argument: str) -> Scene:
    del argument
    call = memory.tool_id()
    command = "rm -r /demo/build"
    yield from said("I want to run a command, and I ask before I do.\n\n")
    title, given = f"Run {command}", {"command": command}
    yield called(call, title, "execute", rawInput=given)
    chosen: str | None = ALLOW_ALWAYS
    if "execute" not in memory.allowed:
        asked = {"toolCallId": call, "title": title, "kind": "execute", "rawInput": given}
        chosen = yield Ask(asked, _OPTIONS)
    if chosen is None:
        yield progressed(call, "failed", content=shown("cancelled"))
        return "cancelled"
    if chosen == "reject-once":
        yield progressed(call, "failed", content=shown("refused"))
        yield from said("You refused, so I did nothing. Ask me again and I ask you again.")
        return "end_turn"
    yield progressed(call, "in_progress")
    yield progressed(call, "completed", content=shown("removed 12 files"))
    if "execute" in memory.allowed:
        yield from said("You had allowed it for this conversation, so I didn't ask.")
    elif chosen == ALLOW_ALWAYS:
        memory.allowed.add("execute")
        yield from said("Done, and I shall not ask again in this conversation.")
    else:
        yield from said("Done. (It was only pretended: no file of yours was touched.)")
    return "end_turn"


def long(memory: Memory, argument: str) -> Scene:
    del memory
    yield from said(long_text(number(argument, default=300, most=LONGEST)))
    return "end_turn"


def slow(memory: Memory, argument: str) -> Scene:
    del memory
    seconds = number(argument, default=20, most=600)
    yield from said(f"I say nothing for {seconds} seconds now. Stop me if you like.\n\n")
    yield Pause(ms=seconds * 1000)
    yield from said("Here I am again.")
    return "end_turn"


def code(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from said(
        "A function in Python, and how to call it from a shell:\n\n"
        "```python\nfrom collections.abc import Iterator\n\n\n"
        "def primes(limit: int) -> Iterator[int]:\n"
        '    """Every prime below `limit`."""\n'
        "    found: list[int] = []\n"
        "    for n in range(2, limit):\n"
        "        if all(n % p for p in found if p * p <= n):\n"
        "            found.append(n)\n"
        "            yield n\n```\n\n"
        "```sh\npython -c 'from primes import primes; print(*primes(50))'\n```\n"
    )
    return "end_turn"


def table(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from said(
        "## What survives a kill\n\n"
        "| killed | the agent | the answer |\n| :-- | :-: | :-- |\n"
        "| bus | lives | goes on within a second |\n"
        "| router | lives | goes on within a second |\n"
        "| gateway | lives | the page connects again by itself |\n"
        "| history | lives | isn't even delayed |\n\n"
        "> Try it: `sk-cli restart router` in the middle of `long 2000`.\n"
    )
    return "end_turn"


def image(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from said("A picture, made on the spot:\n\n")
    yield Update(
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {
                "type": "image",
                "mimeType": "image/png",
                "data": base64.b64encode(gradient(160, 90)).decode(),
            },
        }
    )
    yield from said("\n\n160 by 90 points, and every colour of the evening.")
    return "end_turn"


def error(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from said("In a moment I fail, as agents do when a service behind them is away.")
    yield Fail("The model can't be reached", "this is only the demo: ask me something else")
    return "end_turn"


def crash(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from said("I end without a word of goodbye. You can start me again.")
    yield Pause(beats=20)
    yield Crash(3, ("demo: asked to crash", "demo: good bye"))
    return "end_turn"


def number(argument: str, *, default: int, most: int) -> int:
    """The first number in ``argument``, between 1 and ``most``."""
    for word in argument.replace(",", "").split():
        if word.isdecimal() and len(word) < 10:
            return max(1, min(int(word), most))
    return default
