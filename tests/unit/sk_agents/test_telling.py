import json
from pathlib import Path

import pytest

import sk_agents.telling
from sk_agents.framing import Framer, Line
from sk_agents.telling import SHOWN, Telling
from sk_bus.blobs import BlobStore
from sk_bus.masking import masker, secrets
from sk_bus.model import AgentName

SECRET = "s3cret-value"
DEFINITION = {
    "env": {"TOKEN": SECRET, "SHORT": "abc", "AUTH": "Bearer longtoken123"},
    "mcpServers": [
        {"env": [{"name": "K", "value": "mcp-env-secret"}]},
        {"headers": [{"name": "H", "value": "mcp-header-secret"}]},
    ],
}


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path)


@pytest.fixture
def telling(blobs: BlobStore) -> Telling:
    return Telling(AgentName("alice"), 7, blobs, masker(secrets(DEFINITION)))


def line(data: bytes) -> Line:
    (made,) = Framer().feed(data + b"\n")
    return made


@pytest.mark.parametrize("depth", [90, 150, 400, 500, 600, 1_000, 1_020, 1_500, 5_000])
def test_nesting_of_any_depth_in_a_long_line_is_borne(telling: Telling, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    pad = "x" * 20_000
    text = f'{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"pad":"{pad}","deep":{nested}}}}}'
    frame = telling.frame(line(text.encode()))
    if frame is not None:
        read = json.loads(frame.line)
        assert (read["id"], read["method"]) == (7, "m")
        assert isinstance(read["params"], dict) == (depth < 100)
    else:
        assert depth > 1_000  # no JSON that anybody here could read


@pytest.mark.parametrize("where", ["message", "data"])
def test_an_error_is_told_without_the_secrets_it_quotes(telling: Telling, where: str) -> None:
    error = {"code": -32000, "message": "no", where: f'invalid key "{SECRET}"', "deep": [[SECRET]]}
    frame = telling.frame(line(json.dumps({"id": 3, "error": error}).encode()))
    assert frame is not None
    assert SECRET not in frame.line
    assert json.loads(frame.line)["error"][where] == 'invalid key "•••"'


def test_a_secret_is_masked_however_json_writes_it(blobs: BlobStore) -> None:
    definition = {"env": {"URL": "https://key@host"}}
    telling = Telling(AgentName("alice"), 7, blobs, masker(secrets(definition)))
    written = rb'{"id":3,"error":{"code":1,"message":"no https:\/\/key@\u0068ost"}}'
    frame = telling.frame(line(written))
    assert frame is not None
    assert json.loads(frame.line)["error"]["message"] == "no •••"


def test_an_error_without_secrets_is_told_as_it_was_written(telling: Telling) -> None:
    written = rb'{"id": 3, "error": {"code": 1, "message": "n\u006f", "data": 1e0}}'
    frame = telling.frame(line(written))
    assert frame is not None
    assert frame.line.encode() == written


@pytest.mark.parametrize(
    "data",
    [
        "Starting…".encode(),
        b'"x"',
        b"12",
        b"null",
        b"[1]",
        b"\x1b[31mred\x1b[0m",
        b"",
        b"\xff\xfe bad",
        b'{"bad utf-8": "\xff"}',
        b'{"open": ',
        b"{" * 100_000,
    ],
)
def test_what_is_no_json_object_is_no_frame(telling: Telling, data: bytes) -> None:
    assert telling.frame(line(data)) is None


def test_what_no_request_to_the_bus_can_hold_is_a_line_of_the_log(
    telling: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sk_agents.telling, "_ROOM", 100_000)
    most = line(json.dumps({"a": ["é" * 1_000] * 49}, ensure_ascii=False).encode())
    more = line(json.dumps({"a": ["é" * 1_000] * 50}, ensure_ascii=False).encode())
    assert telling.frame(most) is not None
    assert telling.frame(more) is None
    assert telling.text(more).endswith(f" … ({more.length} bytes)")


@pytest.mark.parametrize(
    "data",
    [b"{}", b'{"level":"info","id":1}', b'  {"a":1}\r', b'{"a":"\\ud83d"}', b'{"a":1e999}'],
)
def test_a_json_object_is_a_frame_as_it_was_written(telling: Telling, data: bytes) -> None:
    frame = telling.frame(line(data))
    assert frame is not None
    assert frame.line.encode() == data.removesuffix(b"\r")
    assert frame.end == len(data) + 1


def test_a_big_part_travels_as_a_blob_and_the_whole_line_can_be_had(
    telling: Telling, blobs: BlobStore
) -> None:
    data = json.dumps({"small": "é", "big": "ü" * 20_000, "half": "\ud83d"}).encode()
    frame = telling.frame(line(data))
    assert frame is not None
    assert frame.raw is not None
    value = json.loads(frame.line)
    assert value["small"] == "é"
    assert value["half"] == "\ud83d"
    assert blobs.text(value["big"]["$blob"]["sha256"]) == "ü" * 20_000
    assert blobs.text(frame.raw.sha256).encode() == data
    assert len(frame.line) < 4000


@pytest.mark.parametrize("hidden", [SECRET, "longtoken123", "mcp-env-secret", "mcp-header-secret"])
def test_no_secret_is_shown(telling: Telling, hidden: str) -> None:
    assert telling.text(line(f"key={hidden}!".encode())) == "key=•••!"


def test_a_short_value_is_no_secret(telling: Telling) -> None:
    assert telling.text(line(b"abc")) == "abc"


def test_a_secret_across_the_bound_is_not_shown(telling: Telling) -> None:
    shown = telling.text(line(b"x" * (SHOWN - 5) + SECRET.encode() + b"y" * 9))
    assert SECRET[:5] not in shown


def test_a_long_line_is_shown_up_to_the_bound_and_its_length_said(telling: Telling) -> None:
    shown = telling.text(line(b"x" * 100_000))
    assert shown == "x" * SHOWN + " … (100000 bytes)"


def test_a_flood_of_lines_is_bounded_and_said(telling: Telling) -> None:
    told = [event for k in range(5000) for event in telling.log("stderr", f"line {k}", 10.0)]
    assert [event.line for event in told] == [f"line {k}" for k in range(200)]
    after = [event.line for event in telling.log("stderr", "calm", 11.5)]
    assert after == ["… (4800 lines left out)", "calm"]


def test_a_flood_that_ends_with_the_agent_is_said_too(telling: Telling) -> None:
    for k in range(201):
        telling.log("stdout", f"line {k}", 10.0)
    assert [event.line for event in telling.left_out("stdout")] == ["… (1 lines left out)"]
