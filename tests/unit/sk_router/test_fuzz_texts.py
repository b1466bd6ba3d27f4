"""Any text as a message: it is routed, and its marks stand where they say."""

import itertools

from hypothesis import example, given
from hypothesis import strategies as st

from sk_bus.model import AgentName, Channel, ChannelId
from sk_router.channels.mentions import folded, mentions
from sk_router.recipients import Room, route
from tests.support.strange import CHARACTERS, briefly

AGENTS = tuple(map(AgentName, ("alice", "bob", "bob-3", "Zoë", "李", "a.b", "ﬁn")))
PIECES = st.sampled_from(
    [
        *[f"@{name}" for name in AGENTS],
        "＠bob",
        "@BOB",
        "@nobody",
        "/bob:review",
        "/compact",
        "`",
        "```\n",
        "~~~",
        "    ",
        "> ",
        "- ",
        "https://x.test/@bob",
        "www.",
        "me",
        "@",
        "/",
        "_",
        "\n\n",
        " ",
        "\\",
        "<a href='@bob'>",
    ]
)
TEXT = st.lists(PIECES | st.text(CHARACTERS, max_size=5), max_size=20).map("".join)


@briefly
@given(TEXT)
@example("`" * 3000 + "@bob")
@example("@" * 3000)
@example("[" * 3000 + "@bob" + "](" * 3000)
@example("/bob:" * 500)
def test_each_mention_stands_where_it_says(text: str) -> None:
    found = mentions(text, AGENTS)
    for one in found:
        word = text[one.start : one.end]
        assert word[0] in "@＠"
        assert one.agent is None or folded(word[1:]) == folded(one.agent)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@briefly
@given(TEXT, st.sampled_from(["", "bob"]), st.sets(st.sampled_from(AGENTS)))
def test_who_answers_is_always_decided(text: str, direct: str, members: set[AgentName]) -> None:
    channel = Channel(
        id=ChannelId("c1"),
        name="" if direct else "x",
        direct=direct,
        members=tuple(sorted(members)),
    )
    routed = route(text, Room(channel, AGENTS, ()))
    assert bool(routed.recipients) is (routed.problem is None)
    assert len(set(routed.recipients)) == len(routed.recipients)
    assert set(routed.recipients) <= set(AGENTS)
    assert set(routed.joins) <= set(routed.recipients) - members
    assert routed.command is None or routed.command.startswith("/")
