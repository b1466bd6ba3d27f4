"""The command line against a real Sidekicks with two agents: every exit code, and a talk in `chat`.

The tests run in this order: the first meets nothing that runs, the last leaves nothing.
"""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.support.instance import TestInstance
from tests.support.shim_client import eventually
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

CONFIG = """\
language: en
agents:
  - name: alice
    title: Alice
    command: sk-demo-agent
  - name: bob
    command: sk-demo-agent
    env: {TOKEN: s3cret-value-of-bob}
  - name: ghost
    command: no-such-program
"""
# Somebody who changes a title and leaves.
EDITOR = {"VISUAL": "sed -i s/Alice/Alicia/"}
WIDE = 160


@pytest.fixture(scope="module")
def cli() -> Iterator[TestInstance]:
    with TestInstance(config=CONFIG, environment=EDITOR) as instance:
        for arguments in (("status",), ("channels", "list"), ("events", "-n", "1")):
            ended = instance.cli(*arguments, check=False)
            assert (ended.returncode, "sk-cli up" in ended.stderr) == (3, True), ended
        instance.up()
        instance.cli("channels", "create", "ops", "-d", "Operations", "-m", "alice", "-m", "bob")
        yield instance


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("agents", "start", "ghost"), 1, "no-such-program"),
        (("channels", "create", "OPS"), 1, ""),
        (("config", "open", "/nowhere/at/all.yaml"), 4, "sk-cli config recent"),
        (("history", "import", "/nowhere/at/all.jsonl"), 1, "/nowhere/at/all.jsonl"),
        (("history", "export", "-o", "/nowhere/at/all"), 1, "/nowhere/at/all"),
        (("history", "search", "x", "-a", "alise"), 4, "alice"),
        (("channels", "messages", "ops", "--before", "m0"), 4, "sk-cli channels messages"),
        (("channels", "delete", "ops"), 2, "--yes"),
        (("chat", "ops"), 2, "sk-cli send"),
        (("channels", "show", "opps"), 4, "#ops"),
        (("send", "@alise", "hello"), 4, "alice"),
        (("agents", "traffic", "bobb"), 4, "bob"),
        (("channels", "invite", "ops", "nobody"), 4, "nobody"),
        (("send", "ops", "@alice slow 600", "--wait", "--timeout", "1s"), 5, "sk-cli stop"),
        (("stop", "ops"), 0, ""),
    ],
)
def test_each_way_to_end_has_its_code_and_says_what_to_do(
    cli: TestInstance, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ended = cli.cli(*arguments, check=False)
    assert ended.returncode == code, ended
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_invalid_file_is_code_6_with_its_lines(cli: TestInstance, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("agents:\n  - name: a b\n")
    ended = cli.cli("config", "validate", str(bad), check=False)
    assert ended.returncode == 6
    assert re.search(rf"(?m)^{re.escape(str(bad))}:2:\d+: error: ", ended.stdout)


def test_a_component_that_is_down_is_code_7_and_named(cli: TestInstance) -> None:
    # One would bring the other back at once.
    watchers = ("gateway", "config")
    for name in watchers:
        cli.kill(name, signal.SIGSTOP)
    try:
        cli.supervisor.stop("history")
        ended = cli.cli("status", check=False)
    finally:
        cli.supervisor.start("history")
        for name in watchers:
            cli.kill(name, signal.SIGCONT)
        cli.is_ready()
    assert ended.returncode == 7
    assert "sk-cli restart history" in ended.stdout


def test_several_answers_come_one_after_the_other(cli: TestInstance) -> None:
    ended = cli.cli("send", "ops", "@alice @bob long 5", "--wait", "--lang", "en")
    assert [line for line in ended.stderr.splitlines() if line.endswith(":")] == ["alice:", "bob:"]
    assert ended.stdout.count("5:") == 2


def test_doctor_starts_an_agent_sees_what_it_can_and_stops_it(cli: TestInstance) -> None:
    cli.cli("agents", "stop", "bob")
    ended = cli.cli("doctor", "--agent", "bob", "--json", check=False)
    found = {one["id"]: one for one in orjson.loads(ended.stdout)}
    assert {found[f"agent:{what}"]["state"] for what in ("command", "initialize", "login")} == {
        "ok"
    }
    assert "sk-demo-agent" in found["agent:initialize"]["text"]
    eventually(lambda: cli.json("agents", "show", "bob")["state"] == "stopped")
    ghost = orjson.loads(cli.cli("doctor", "--agent", "ghost", "--json", check=False).stdout)
    missing = next(one for one in ghost if one["id"] == "agent:command")
    assert (missing["state"], "no-such-program" in missing["text"]) == ("fail", True)


def test_traffic_shows_the_frames_both_ways(cli: TestInstance) -> None:
    shown = cli.lines("agents", "traffic", "bob", "-n", "1000")
    assert {frame["type"] for frame in shown} == {"do:send", "fact:frame"}
    first = next(frame for frame in shown if frame.get("n") == 1)
    assert orjson.loads(first["line"])["method"] == "initialize"
    assert "s3cret-value" not in cli.cli("agents", "traffic", "bob", "-n", "1000").stdout


def test_an_export_can_be_imported(cli: TestInstance, tmp_path: Path) -> None:
    out = tmp_path / "ops.jsonl"
    cli.cli("history", "export", "ops", "--format", "jsonl", "-o", str(out))
    assert cli.cli("history", "export", "ops", "-o", str(out), check=False).returncode == 2
    brought = cli.json("history", "import", str(out))
    assert (brought["messages"], brought["kept"] > 0) == (0, True)
    hit = cli.lines("history", "search", "long", "-c", "ops")[0]
    assert hit["channel"] == cli.json("channels", "list")[0]["id"]


def test_a_narrow_terminal_is_not_overrun(cli: TestInstance) -> None:
    with Terminal(cli, "agents", "list", columns=40) as terminal:
        assert terminal.ended() == 0
    lines = terminal.text.splitlines()
    assert max(len(line) for line in lines) <= 40
    assert any("ghost" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "point", "found"),
    [
        ("sk-cli agents start ", 3, "alice"),
        ("sk-cli send @", 2, "@bob"),
        ("sk-cli channels show o", 3, "ops"),
        ("sk-cli restart r", 2, "router"),
        ("sk-cli cha", 1, "channels"),
    ],
)
def test_tab_knows_the_names_there_are(
    cli: TestInstance, words: str, point: int, found: str
) -> None:
    asked = {"_SK_CLI_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(point)}
    # A busy machine may take longer than a person would wait for names: then there are none.
    eventually(lambda: f"plain,{found}" in cli.cli(environment=asked).stdout.splitlines())


def test_a_file_is_edited_and_then_checked(cli: TestInstance) -> None:
    with Terminal(cli, "config", "edit") as terminal:
        assert terminal.ended() == 0
    assert "0 errors, 1 warning" in terminal.text
    assert "Alicia" in cli.config.read_text()
    cli.config.write_text(CONFIG)


def test_french_is_spoken_where_the_configuration_says_so(cli: TestInstance) -> None:
    french = {"LANG": "fr_FR.UTF-8"}
    assert "valid" in cli.cli("status", environment=french).stdout  # the configuration comes first
    assert "valide" in cli.cli("--lang", "fr", "status").stdout
    cli.config.write_text(CONFIG.replace("language: en", "language: fr"))
    eventually(lambda: "en marche" in cli.cli("status").stdout)
    cli.config.write_text(CONFIG)
    eventually(lambda: "running" in cli.cli("status").stdout)


def test_a_talk_with_two_agents_a_request_a_killed_router_and_stop(cli: TestInstance) -> None:
    with Terminal(cli, "chat", "ops", "-n", "0", columns=WIDE, rows=50) as chat:
        chat.until(r"#ops ›")
        chat.keys("hello @al")
        chat.until(r"@alice +Alice")  # the menu of names
        chat.keys("ice and @bob")
        chat.until(r"→ alice.*, then bob")
        chat.keys("\r")
        chat.until(r"you:\nhello @alice and @bob\n\nalice:\n(?s:.*)\n\nbob:\n")
        chat.until(r"bob:\n.+(?s:.*)\n/help$")

        chat.keys("@bob permission\r")
        chat.until(r"bob asks to run a command: .*\n  1  Allow once\n")
        chat.until(r"bob waits: 1–3 answers$")
        chat.keys("1\r")
        chat.until(r"\(by cli\)(?s:.*)\n/help$")

        chat.keys("@alice long 4000\r")
        chat.until(r"\b40:.*(?s:.*)alice is answering   Ctrl-C stops$")
        cli.kill("router")
        chat.until(r"\b160:")
        chat.keys("\x03")
        chat.until(r"\nstopped\n(?s:.*)\n/help$")

        def is_kept() -> bool:
            said = cli.lines("channels", "messages", "ops", "-n", "1")[0]
            text = "".join(part["text"] for part in said["parts"] if part["type"] == "text")
            shown = "\n".join(line.rstrip() for line in text.splitlines())
            return "160:" in shown and shown in chat.text

        eventually(is_kept)

        chat.keys("\x03")
        chat.until(r"/quit or Ctrl-D leaves")
        chat.keys("/quit\r")
        assert chat.ended() == 0


def test_ctrl_d_leaves_an_answer_to_go_on(cli: TestInstance) -> None:
    with Terminal(cli, "chat", "@alice", columns=WIDE) as chat:
        chat.until(r"@alice ›")
        chat.keys("slow 600\r")
        chat.until(r"alice is answering")
        chat.keys("\x04")
        assert chat.ended() == 0
        assert "sk-cli stop @alice" in chat.text
    assert cli.json("channels", "show", "@alice")["busy"]
    cli.cli("stop", "@alice")


def test_the_log_can_be_read_when_nothing_runs_any_more(cli: TestInstance) -> None:
    cli.down()
    ended = cli.cli("events", "-c", "ops", "-t", "permission:*", "-n", "5")
    assert ended.stderr.startswith("#")
    assert "permission:requested" in ended.stdout
    assert cli.cli("config", "show").stdout == CONFIG
    assert cli.cli("status", check=False).returncode == 3
