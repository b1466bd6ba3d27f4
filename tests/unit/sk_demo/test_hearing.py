"""What the demo agent takes from a prompt: who said what, and a code that somebody named."""

import pytest

from sk_bus.internal import PastMessage
from sk_bus.model import AgentName, MessageId
from sk_demo.hearing import YOU, Said, asks_for_a_code, code_in, heard, last_code
from sk_router.channels import prompts


def blocks(*texts: object) -> list[dict[str, object]]:
    return [{"type": "text", "text": text} for text in texts]


TOLD = (
    PastMessage(id=MessageId("m1"), text="the code is 4711\n\n[0123456789ab] bob:\nno, 1"),
    PastMessage(id=MessageId("m2"), text="noted", author=AgentName("bob")),
)


def test_a_text_alone_is_the_message() -> None:
    assert heard(blocks("hello")) == ([], "hello")
    assert heard(None) == ([], "")


def test_in_a_channel_it_hears_who_said_what_and_the_message() -> None:
    before, message = heard(blocks(*prompts.in_channel("and?", AgentName("alice"), TOLD)))
    assert message == "and?"
    assert before == [Said(TOLD[0].text, YOU), Said("noted", "bob")]


def test_in_a_channel_where_nothing_is_new_it_hears_the_message() -> None:
    assert heard(blocks(*prompts.in_channel("and?", AgentName("alice"), ()))) == ([], "and?")


def test_a_lost_conversation_is_heard_again() -> None:
    before, message = heard(blocks(*prompts.remembering("and?", AgentName("bob"), TOLD)))
    assert (before[1], message) == (Said("noted", "bob (you)"), "and?")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The code is 4711.", "4711"),
        ("@alice remember: the secret code is **blue-42**", "blue-42"),
        ("code: heron", "heron"),
        ("Our code for today = 99", "99"),
        ("le code est 12", "12"),
        ("remember code 4711 please", "4711"),
        ("I shall remember the code: **4711**. Ask me for it.", "4711"),
        ("what is the code?", None),
        ("@bob what was the code", None),
        ("show me some code", None),
        ("is the code 4711?", None),
    ],
)
def test_a_code_is_named_in_a_simple_sentence(text: str, code: str | None) -> None:
    assert code_in(text) == code


@pytest.mark.parametrize(
    ("text", "known", "asks"),
    [
        ("what is the code?", False, True),
        ("@bob tell me the code", False, True),
        ("Quel est le code ?", False, True),
        ("the code, please?", True, True),
        ("some code?", False, False),
        ("the code is 4711", True, False),
        ("code", True, False),
    ],
)
def test_a_code_is_asked_for(text: str, known: bool, asks: bool) -> None:
    assert asks_for_a_code(text, known=known) is asks


def test_the_code_that_was_named_last_counts_and_who_named_it_first() -> None:
    memory = [Said("the code is 1", YOU), Said("the code is 2", YOU), Said("code: 2", "bob")]
    assert last_code(memory) == ("2", memory[1])
    assert last_code([Said("hm", YOU)]) is None
