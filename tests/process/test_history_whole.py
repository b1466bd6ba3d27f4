"""The history of a whole Sidekicks: deleted without a trace, carried elsewhere, killed with all."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sk_bus.queries import SERVICES
from tests.support.instance import TestInstance, running
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
"""
SECRET = "vermillionquokka"
KEPT = "ultramarinenewt"


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with running(config=CONFIG, environment={"SK_TUNE": "blob-gone=0"}) as made:
        yield made


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.2)


def holding(instance: TestInstance, words: str) -> list[Path]:
    """Every file of the instance in which the words stand."""
    found = []
    for path in instance.directory.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        if words.encode() in data:
            found.append(path)
    return found


def test_a_deleted_channel_leaves_no_trace_in_any_file(instance: TestInstance) -> None:
    for name, words in (("gone", SECRET), ("stays", KEPT)):
        instance.cli("channels", "create", name, "--member", "demo")
        instance.cli("send", f"#{name}", f"please echo {words}")
        # Longer than an event may be: a blob for the message, and one for the agent's line.
        instance.cli("send", f"#{name}", f"please echo {words} " + f"{words} and so on. " * 2000)
        assert holding(instance, words), "it is in files, in the first place"
    instance.cli("channels", "delete", "#gone", "--yes")
    until(lambda: not holding(instance, SECRET), "nothing is left of it")
    until(lambda: len(instance.lines("history", "search", KEPT)) >= 2, "what stays is found")


def http(instance: TestInstance, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(instance.address + path, data=body)
    request.add_header("Authorization", f"Bearer {instance.token}")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def idle(instance: TestInstance) -> bool:
    listed = instance.json("channels", "list")
    return not any(instance.json("channels", "show", one["id"])["busy"] for one in listed)


def test_exported_imported_elsewhere_and_exported_again_the_bytes_are_the_same(
    instance: TestInstance,
) -> None:
    instance.cli("channels", "create", "travels", "--member", "demo")
    instance.cli("send", "#travels", "hello", "--wait")
    instance.cli("send", "@demo", "hello", "--wait")
    until(lambda: idle(instance), "everything is answered")
    for path, body in (("/export", None), ("/import", b"")):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(urllib.request.Request(instance.address + path, data=body))
    status, export = http(instance, "/export?format=jsonl")
    assert (status, export.splitlines()[0]) == (200, b'{"type":"sidekicks-export","version":1}')
    with running() as other:
        assert json.loads(http(other, "/import", b"oops")[1])["problem"]["id"] == "not-an-export"
        assert other.json("channels", "list") == []
        status, answer = http(other, "/import", export)
        assert (status, json.loads(answer)["kept"]) == (200, 0)
        assert http(other, "/export?format=jsonl") == (200, export)
        # It is a channel like others there.
        names = {one["name"] for one in other.json("channels", "list")}
        assert {"stays", "travels"} <= names
        assert "travels" in {one["name"] for one in other.json("channels", "list")}
        other.cli("send", "#travels", "and you?")
        assert not list(other.data.glob("import.*"))
    status, markdown = http(instance, "/export?format=markdown&language=fr")
    assert status == 200
    assert "# \\#travels" in markdown.decode()
    assert "## Vous · " in markdown.decode()


def test_all_services_killed_at_once_lose_nothing_that_was_acknowledged(
    instance: TestInstance,
) -> None:
    instance.cli("channels", "create", "killed")
    sent = []
    for round_ in range(3):
        for number in range(4):
            word = f"message{round_}x{number}"
            instance.cli("send", "#killed", word)
            sent.append(word)
        instance.kill_together(*SERVICES)
    view = instance.json("channels", "show", "#killed")
    said = [
        part["text"]
        for message in view["messages"]
        for part in message["parts"]
        if message["role"] == "user"
    ]
    assert said == sent
    assert len(instance.lines("history", "search", "message")) == len(sent)
