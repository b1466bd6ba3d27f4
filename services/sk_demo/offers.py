"""What the demo agent offers: one word a scene, and which scene a prompt asks for.

The first answer's list, the slash commands and ``/help`` are made from :data:`SCENES`, so that what
it offers is what it does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import shorten

from sk_demo.hearing import asks_for_a_code, code_in, last_code
from sk_demo.scenes import (
    code,
    crash,
    diff,
    error,
    image,
    long,
    permission,
    plan,
    slow,
    table,
    think,
    tool,
)
from sk_demo.steps import Memory, Scene, said, thought

_RECALLED = 12


@dataclass(frozen=True, slots=True)
class Offer:
    """A word that the agent obeys: what it shows, and what may stand behind it."""

    word: str
    shows: str
    scene: Callable[[Memory, str], Scene]
    hint: str = ""


def greet(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from thought("Somebody new. I say who I am, and what there is to try.")
    yield from said(
        "Hello! I am the **demo agent** of Sidekicks. There is no model behind me and I use no "
        "network, but I speak the Agent Client Protocol as every agent does, so you can see here "
        "what Sidekicks does with a real one.\n\n"
        f"Send me one of these words:\n\n{_offers()}\n\n"
        "They are slash commands as well: type `/` to see them. *Stop* ends any answer, and you "
        "may close this page, or kill any component of Sidekicks, in the middle of one: it will "
        "be whole when you look again."
    )
    return "end_turn"


def echo(memory: Memory, argument: str) -> Scene:
    """Anything that isn't one of the words."""
    del memory
    words = len(argument.split())
    quoted = "\n".join(f"> {line}" for line in argument.strip().splitlines()[:6])
    yield from said(
        f"You wrote {words} word{'s' if words != 1 else ''}:\n\n{quoted}\n\n"
        "I have no model, so that is all I can say of it. Send `help` for the words that I "
        "understand."
    )
    return "end_turn"


def learn(memory: Memory, argument: str) -> Scene:
    """Somebody named a code."""
    del memory
    yield from said(
        f"I shall remember the code: **{code_in(argument)}**. Ask me for it, or ask another agent "
        "in this channel: it reads what we said."
    )
    return "end_turn"


def tell(memory: Memory, argument: str) -> Scene:
    """Somebody asks for the code."""
    del argument
    found = last_code(memory.heard)
    if found is None:
        yield from said(
            "Nobody has named a code where I could read it. Tell me one: *The code is 4711.*"
        )
    else:
        named, where = found
        yield from said(f"The code is **{named}**: {where.author} said so.")
    return "end_turn"


def recall(memory: Memory, argument: str) -> Scene:
    del argument
    before = memory.heard[:-1]  # without this very question
    if not before:
        yield from said("I have heard nothing yet in this conversation.")
        return "end_turn"
    quoted = "".join(
        f"- {one.author}: {shorten(one.text, 120, placeholder=' …')}\n"
        for one in before[-_RECALLED:]
    )
    yield from said(f"What I have heard in this conversation, oldest first:\n\n{quoted}")
    return "end_turn"


def show_help(memory: Memory, argument: str) -> Scene:
    del memory, argument
    yield from said(f"I understand these words, with or without a slash:\n\n{_offers()}")
    return "end_turn"


SCENES: dict[str, Offer] = {
    offer.word: offer
    for offer in (
        Offer("plan", "a plan, step by step", plan),
        Offer("think", "thoughts before the answer", think),
        Offer("tool", "two tool calls", tool),
        Offer("diff", "an edit as a diff", diff),
        Offer("permission", "a question before a command is run", permission),
        Offer("code", "highlighted code", code),
        Offer("table", "a heading, a table and a quotation", table),
        Offer("image", "a picture", image),
        Offer("recall", "what I have heard in this conversation, and from whom", recall),
        Offer("long", "a long answer, its words numbered", long, hint="number of words"),
        Offer("slow", "a long silence, to be stopped", slow, hint="seconds"),
        Offer("error", "what a failed answer looks like", error),
        Offer("crash", "what happens when an agent dies", crash),
        Offer("help", "this list", show_help),
    )
}


def scene_for(prompt: str, memory: Memory) -> Scene:
    """The scene that ``prompt`` asks for.

    A word of ours alone, then a code that is named or asked for. Else the last line that begins
    with one of our words counts (other clients send what was said and the request to answer in
    one text), then any of our words in the last three lines, then whether we have been introduced.
    """
    word, argument = _command(prompt)
    if word in SCENES and not argument:
        return SCENES[word].scene(memory, "")
    if code_in(prompt) is not None:
        return learn(memory, prompt)
    if asks_for_a_code(prompt, known=last_code(memory.heard) is not None):
        return tell(memory, prompt)
    for line in reversed(prompt.splitlines()):
        word, argument = _command(line)
        if word in SCENES:
            return SCENES[word].scene(memory, argument)
    for line in [line for line in prompt.splitlines() if line.strip()][:-4:-1]:
        for word in line.lower().split():
            found = word.strip("`'\".,;:!?()*_/")
            if found in SCENES:
                return SCENES[found].scene(memory, "")
    if memory.turns <= 1:
        return greet(memory, prompt)
    return echo(memory, prompt)


def _command(line: str) -> tuple[str, str]:
    """The first word of a line, mentions and its slash taken off, and what is behind it."""
    words = [word for word in line.split() if not word.startswith("@")]
    if not words:
        return "", ""
    return words[0].removeprefix("/").rstrip(".,:!?").lower(), " ".join(words[1:])


def _offers() -> str:
    return "\n".join(
        f"- `{offer.word}{' ' + str(300 if offer.word == 'long' else 20) if offer.hint else ''}` "
        f"– {offer.shows}"
        for offer in SCENES.values()
    )
