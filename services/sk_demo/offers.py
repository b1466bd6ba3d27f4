"""What the demo agent offers: one word a scene, and which scene a prompt asks for.

The first answer's list, the slash commands and ``/help`` are made from :data:`SCENES`, so that what
it offers is what it does.
"""

from collections.abc import Callable
from dataclasses import dataclass

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
        Offer("long", "a long answer, its words numbered", long, hint="number of words"),
        Offer("slow", "a long silence, to be stopped", slow, hint="seconds"),
        Offer("error", "what a failed answer looks like", error),
        Offer("crash", "what happens when an agent dies", crash),
        Offer("help", "this list", show_help),
    )
}


def scene_for(prompt: str, memory: Memory) -> Scene:
    """The scene that ``prompt`` asks for.

    In a channel the message comes after what the others said and before a closing request, so
    the last line that begins with one of our words counts, then any of our words in the last
    three lines, then whether we have been introduced.
    """
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
