"""Alice and Bob: two different agents in one channel, of whom the second must read the first.

The model makes up a code in Alice's answer, so it stands nowhere but in her words; Bob's model
finds it only if it stands in what Bob was sent.
"""

import json
from dataclasses import dataclass

from sk_bus.commands import Create
from sk_bus.internal import DoSend
from sk_bus.model import ChannelId
from tests.real.script import code
from tests.real.trial import Installed, Room, expect, lived
from tests.support.conversing import text


@dataclass(frozen=True, slots=True)
class Pair:
    """Who plays Alice, and who Bob."""

    alice: Installed
    bob: Installed

    def __str__(self) -> str:
        return f"{self.alice.agent.title} as Alice, {self.bob.agent.title} as Bob"


async def meet(pair: Pair) -> None:
    """One run, in a Sidekicks of its own.

    Raises:
        StepError: Bob doesn't find it, or finds it twice, or signs his answer.
    """
    room = Room({"alice": pair.alice, "bob": pair.bob})
    async with room, room.person() as me:
        made = await me.give(Create, name="pair")
        expect(made.ok, f"no channel: {made.problem}")
        channel = ChannelId(made.value)
        alice = await lived(me, channel, "@alice ## Make up a code. !code{meeting}")
        words = code("meeting")
        expect(text(alice) == words, f"Alice said {text(alice)!r}")
        bob = await lived(me, channel, "@bob ## Which code did Alice make up? !recall{meeting}")
        expect(text(bob) == f"It was {words.rpartition(' ')[2]}", f"Bob said {text(bob)!r}")
        expect(not text(bob).lower().startswith("bob"), "Bob signs his answer")
        (entry,) = room.model.about("!recall{meeting}")
        heard = entry.everything.count(words)
        expect(heard == 1, f"Bob's model was told Alice's words {heard} times")
        sent = [json.loads(one.line) for one in me.events if isinstance(one, DoSend)]
        prompts = [
            "".join(block["text"] for block in one["params"]["prompt"])
            for one in sent
            if one.get("method") == "session/prompt"
        ]
        expect(prompts[-1].count(words) == 1, "Sidekicks told Bob Alice's words not once")
