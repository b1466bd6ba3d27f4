"""What was said is said once, over any number of restarts."""

from sk_bus.codec import plain
from sk_bus.events import ComponentStateChanged, ConfigChanged
from sk_bus.model import Component, ComponentName, PublicConfig
from sk_bus.wire import packed, unpacked
from sk_config.speech import Speech

EVENT = ConfigChanged(path="/c.yaml", valid=True, config=PublicConfig())
ROUTER = ComponentStateChanged(
    component=ComponentName("router"), state="running", pid=7, restarts=2, since=5
)


def restarted(speech: Speech, *, epoch: int = 1) -> Speech:
    return Speech(epoch, unpacked(packed(plain(speech.position))))


def test_the_same_is_no_news_even_after_a_restart() -> None:
    speech = Speech(1, None)
    assert speech.config(EVENT, b"text")
    assert not speech.config(EVENT, b"text")
    assert not restarted(speech).config(EVENT, b"text")


def test_another_text_with_the_same_meaning_is_news() -> None:
    speech = Speech(1, None)
    assert speech.config(EVENT, b"text")
    assert speech.config(EVENT, b"text # with a comment")


def test_the_same_text_with_another_outcome_is_news() -> None:
    speech = Speech(1, None)
    assert speech.config(EVENT, b"text")
    assert speech.config(ConfigChanged(path="/c.yaml", valid=False, config=PublicConfig()), b"text")


def test_a_new_epoch_hears_everything_anew() -> None:
    speech = Speech(1, None)
    assert speech.config(EVENT, b"text")
    speech.component(ROUTER)
    later = restarted(speech, epoch=2)
    assert later.config(EVENT, b"text")
    assert later.components == ()


def test_components_are_remembered() -> None:
    speech = Speech(1, None)
    speech.component(ROUTER)
    assert restarted(speech).components == (
        Component(component=ComponentName("router"), state="running", pid=7, restarts=2, since=5),
    )


def test_a_position_of_another_kind_is_no_memory() -> None:
    assert Speech(1, 17).components == ()
    assert Speech(1, {"epoch": 1}).config(EVENT, b"")
