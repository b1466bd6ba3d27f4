"""What is said about a configuration file, and where."""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sk_bus.french import in_french
from sk_config.check import check
from sk_config.surroundings import Surroundings

HERE = Surroundings(
    folder="/home/u/conf",
    home="/home/u",
    variables={"PATH": "/bin:/usr/bin", "TOKEN": "t0ken-t0ken"},
    beside="/opt/sk/bin",
    executable=lambda path: path in {"/bin/agent", "/opt/sk/bin/sk-demo-agent", "/home/u/conf/run"},
    directory=lambda path: path.startswith("/home/u"),
    home_of={"bob": "/home/ubob"}.get,
)
AGENT = "agents: [{name: a, command: agent}]"


def found(text: str) -> list[tuple[int | None, int | None, str]]:
    verdict = check(text, HERE)
    return [(one.line, one.column, one.id) for one in (*verdict.problems, *verdict.warnings)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing but words",
        "agents:\nlimits:\nhistory:\n",
        "theme: dark\nlanguage: fr\n",
        "limits: {stopIdleAgentsAfter: 0}",
        "limits: {stopIdleAgentsAfter: never, maxRunningAgents: 1}",
        "limits: {stopIdleAgentsAfter: 1h30m}",
        "agents: [{name: Zoë, command: agent}, {name: 李, command: agent}]",
        "agents: [{name: हिन्दी, command: agent}]",
        "agents: [{name: a.b-c_d, command: agent, title: , env: , args: }]",
        "agents: [{name: a, command: agent, env: {NO: 'x', 8080: 'y'}}]",
        "agents: [{name: a, command: agent, startTimeout: 5m}]",
        "\ufefftheme: dark",
        "theme: dark\r\nlanguage: fr\r\n",
    ],
)
def test_nothing_is_wrong_with(text: str) -> None:
    assert found(text) == []


def test_the_nearest_known_name_is_offered() -> None:
    (made,) = check("limits: {maxAgents: 2}", HERE).problems
    assert made.params == {"field": "maxAgents", "nearest": "maxRunningAgents"}
    assert made.message == "unknown field maxAgents: did you mean maxRunningAgents?"


def test_defaults_are_those_of_the_specification() -> None:
    config = check("agents: [{name: a, command: agent}]", HERE).config
    assert config is not None
    assert (config.theme, config.language, config.keepUnfinished) == ("system", "system", False)
    assert (config.limits.maxRunningAgents, config.limits.stopIdleAgentsAfter) == (3, 600_000)
    (agent,) = config.agents
    assert (agent.title, agent.startTimeout, agent.cwd) == ("a", 30_000, "/home/u/conf")


def test_a_merge_key_brings_fields_in_and_own_ones_win() -> None:
    text = """
agents:
  - &base {name: a, command: agent, title: First, startTimeout: 1m}
  - {<<: *base, name: b, title: Second}
"""
    config = check(text, HERE).config
    assert config is not None
    assert [(a.name, a.title, a.startTimeout) for a in config.agents] == [
        ("a", "First", 60_000),
        ("b", "Second", 60_000),
    ]


def test_aliases_that_explode_are_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert [id_ for _, _, id_ in found("\n".join(lines))] == ["too-many"]


def test_a_text_without_end_is_refused_before_it_is_read() -> None:
    assert found("x" * 300_000) == [(1, 1, "file-too-long")]


def test_what_is_nested_without_end_is_refused_where_it_is_too_much() -> None:
    assert found("[" * 3000) == [(1, 51, "too-deep")]


def test_a_definition_has_everything_that_the_bus_must_not_carry() -> None:
    text = """
agents:
  - name: a
    command: ./run
    args: ["${TOKEN}", ~/x, "$${TOKEN}"]
    env: {KEY: "${TOKEN}", PATH: /bin}
    cwd: work
    mcpServers:
      - {name: m, command: agent, args: [-v], env: {SECRET: abcdefgh}}
      - name: h
        type: http
        url: http://x
        headers: [{name: Authorization, value: Bearer q1w2e3r4}]
"""
    verdict = check(text, HERE)
    (definition,) = verdict.definitions
    assert json.loads(definition.content) == {
        "name": "a",
        "command": "/home/u/conf/run",
        "args": ["t0ken-t0ken", "/home/u/x", "${TOKEN}"],
        "env": {"KEY": "t0ken-t0ken", "PATH": "/bin"},
        "cwd": "/home/u/conf/work",
        "mcpServers": [
            {
                "name": "m",
                "command": "/bin/agent",
                "args": ["-v"],
                "env": [{"name": "SECRET", "value": "abcdefgh"}],
            },
            {
                "type": "http",
                "name": "h",
                "url": "http://x",
                "headers": [{"name": "Authorization", "value": "Bearer q1w2e3r4"}],
            },
        ],
        "path": "/bin",
    }
    assert definition.secrets == {"t0ken-t0ken", "abcdefgh", "Bearer q1w2e3r4", "q1w2e3r4"}
    assert verdict.config is not None
    (agent,) = verdict.config.agents
    assert agent.mcpServers == 2
    said = repr(verdict.config)
    assert not any(secret in said for secret in definition.secrets)
    assert "run" not in said


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("~", "/home/u"),
        ("~/x", "/home/u/x"),
        ("~bob", "/home/ubob"),
        ("~bob/x", "/home/ubob/x"),
        ("~nobody/x", "/home/u/conf/~nobody/x"),
        ("a~/x", "/home/u/conf/a~/x"),
        ("../x", "/home/u/x"),
        ("/x/${TOKEN}", "/x/t0ken-t0ken"),
        ("$HOME/x", "/home/u/conf/$HOME/x"),
    ],
)
def test_a_folder_is_filled_in_and_made_absolute(written: str, filled: str) -> None:
    text = f"agents: [{{name: a, command: agent, cwd: '{written}'}}]"
    config = check(text, HERE).config
    assert config is not None
    assert config.agents[0].cwd == filled


def test_what_a_variable_stands_for_is_not_said_aloud() -> None:
    (made,) = check("agents: [{name: a, command: '/bin/${TOKEN}'}]", HERE).warnings
    assert made.params == {"command": "/bin/${TOKEN}"}
    assert "t0ken" not in made.message


def test_a_command_is_looked_up_on_the_path_then_beside_sk_cli() -> None:
    text = "agents: [{name: a, command: agent}, {name: d, command: sk-demo-agent}]"
    commands = [json.loads(made.content)["command"] for made in check(text, HERE).definitions]
    assert commands == ["/bin/agent", "/opt/sk/bin/sk-demo-agent"]


def test_only_what_starts_the_process_changes_the_digest() -> None:
    def digest(text: str) -> str:
        (definition,) = check(f"agents: [{text}]", HERE).definitions
        return definition.digest

    base = digest("{name: a, command: agent}")
    assert digest("{command: agent, title: Other, startTimeout: 1m, name: a}") == base
    assert digest("{name: a, command: agent, args: [-v]}") != base
    assert digest("{name: a, command: agent, env: {A: b}}") != base
    assert digest("{name: a, command: agent, cwd: /home/u}") != base


def test_no_problem_quotes_a_secret() -> None:
    text = """
agents:
  - name: a
    command: hunter2-hunter2
    args: ["${hunter2_hunter2}"]
    env: {PASSWORD: hunter2-hunter2, N: 1234567890}
"""
    verdict = check(text, HERE)
    assert verdict.problems
    assert "hunter2-hunter2" not in repr((verdict.problems, verdict.warnings))
    assert "1234567890" not in repr((verdict.problems, verdict.warnings))


@pytest.mark.parametrize(
    "value",
    [
        "*hunter2hunter2",
        "'hunter2hunter2",
        "&hunter2hunter2 {",
        "!hunter2hunter2 x",
        "@hunter2hunter2",
    ],
)
def test_what_cannot_be_read_is_not_quoted_either(value: str) -> None:
    verdict = check(f"agents: [{{name: a, command: agent, env: {{K: {value}}}}}]", HERE)
    assert verdict.problems
    assert "hunter2" not in repr(verdict.problems)


def test_a_hundred_problems_are_enough() -> None:
    assert len(check("\n".join(f"x{n}: 1" for n in range(500)), HERE).problems) == 100


_WORDS = """agents name env limits mcpServers no 1 1e999 0x 2026-01-01 ${X} ${ \\ é ~
&a *a << ! !!int | > # --- ? { } [ ] , " ' %YAML"""
_YAMLISH = st.lists(
    st.sampled_from([*_WORDS.split(), ": ", "\n", "  ", "- ", "\t", "\x00", "\ud800"]), max_size=40
).map("".join)


@settings(max_examples=200, deadline=None)
@given(st.one_of(_YAMLISH, st.text(max_size=200)))
@example("!<")
@example("%YAML 99999999999999999999.1\n--- a")
@example("{" * 500)
@example("? " * 200)
@example("a: 1:" + "9" * 6000)
@example("theme: " + "9" * 6000)
@example("- " * 5000)
def test_any_text_has_a_verdict_and_every_problem_a_place(text: str) -> None:
    verdict = check(text, HERE)
    assert verdict.valid == (not verdict.problems)
    lines = text.count("\n") + text.count("\r") + text.count("\x85") + 2
    lines += text.count("\u2028") + text.count("\u2029")
    for made in (*verdict.problems, *verdict.warnings):
        assert made.line is not None
        assert made.column is not None
        assert 1 <= made.line <= lines
        assert made.column >= 1


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "command", "env", "agents", "limits", "args", "x", "headers"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["agents", "limits", "theme", "history"]), _VALUES))
def test_any_values_have_a_verdict(data: dict[str, object]) -> None:
    verdict = check(json.dumps(data), HERE)
    assert verdict.valid == (not verdict.problems)


WHOLE = """\
# A file in which every field has a value.
theme: dark
language: fr
limits: {maxRunningAgents: 5, stopIdleAgentsAfter: 1h30m}
history: {keepUnfinished: true}
agents:
  - &base
    name: a
    title: "First: one"
    icon: 🎈
    description: >
      Some words,
      and more.
    command: agent
    args: [-v, '--key=${TOKEN}']
    env: {KEY: hunter2-hunter2, "PORT": '8080'}
    cwd: ~/work
    startTimeout: 5m
    permissions:
      - {kind: read, path: "/home/**", answer: allow_once}
    mcpServers:
      - {name: m, command: agent, env: [{name: SECRET, value: hunter2-hunter2}]}
      - {name: h, type: http, url: http://x, headers: {Authorization: Bearer hunter2-hunter2}}
  - <<: *base
    name: b
"""
_EDIT = st.tuples(
    st.sampled_from(["insert", "remove", "repeat", "swap", "indent"]),
    st.integers(0, len(WHOLE)),
    st.integers(1, 40),
    st.sampled_from([*":-#'\"[]{}&*!|>%@`,\t\n \0\ufeff", "no", "012", "1e3", "<<", "---", "${X}"]),
)


def edited(text: str, edits: list[tuple[str, int, int, str]]) -> str:
    for how, at, length, piece in edits:
        before, hit, after = text[:at], text[at : at + length], text[at + length :]
        match how:
            case "insert":
                text = before + piece + hit + after
            case "remove":
                text = before + after
            case "repeat":
                text = before + hit + hit + after
            case "swap":
                text = before + hit[::-1] + after
            case "indent":
                text = before + hit.replace("\n", "\n  ") + after
    return text


def test_the_whole_file_is_valid() -> None:
    assert found(WHOLE) == []


@settings(max_examples=300, deadline=None)
@given(st.lists(_EDIT, min_size=1, max_size=6))
def test_after_any_edits_each_problem_has_its_place_and_quotes_no_secret(
    edits: list[tuple[str, int, int, str]],
) -> None:
    text = edited(WHOLE, edits)
    verdict = check(text, HERE)
    assert verdict.valid == (not verdict.problems)
    lines = text.splitlines() or [""]
    for made in (*verdict.problems, *verdict.warnings):
        assert made.line is not None
        assert made.column is not None
        assert 1 <= made.line <= len(lines) + 1
        assert 1 <= made.column <= max(map(len, lines)) + 2
        assert in_french(made)
        if text.count("hunter2-hunter2") == WHOLE.count("hunter2-hunter2"):
            assert "hunter2-hunter2" not in repr(made)


def test_the_same_text_elsewhere_is_another_matter() -> None:
    elsewhere = replace(HERE, variables={"PATH": "/nowhere"})
    assert found(AGENT) == []
    assert [one.id for one in check(AGENT, elsewhere).warnings] == ["command-not-found"]


def test_a_rules_path_may_begin_at_home_and_its_command_is_taken_as_it_is() -> None:
    rule = "{kind: edit, path: ~/notes/*, command: ~/x, answer: allow_once}"
    config = check(f"agents: [{{name: a, command: agent, permissions: [{rule}]}}]", HERE).config
    assert config is not None
    (made,) = config.agents[0].permissions
    assert (made.path, made.command) == ("/home/u/notes/*", "~/x")
