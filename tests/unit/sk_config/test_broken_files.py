"""Broken configuration files, each with everything that is said about it, and where.

What stands in a row is what ``sk-cli config validate`` prints behind the file's name.
"""

import pytest

from sk_bus.french import in_french
from sk_bus.model import Problem
from sk_config.check import check
from tests.unit.sk_config.test_check import HERE

A_NUMBER = "a number (as YAML reads 8080, 012 and 12:30)"
A_FLAG = "true or false (as YAML reads yes, no, on and off)"
A_COLON = (
    "error: a colon isn't expected here: check the indentation, look above for a colon without a"
    " blank behind it, or use quotes"
)
AN_INDENTATION = "error: this doesn't go with the lines above: check the indentation"
NO_YAML = "error: this can't be read as YAML: check quotes and indentation"
A_NAME = (
    "error: a name has 1 to 32 letters, digits, - _ or . and begins and ends with a letter or a"
    " digit"
)
AN_ENTRY = "write [ ] around it, or each entry in a line that begins with -"
UNSET = (
    "error: the variable NOPE isn't set where Sidekicks was started: set it there and start"
    " Sidekicks again"
)
OF_AN_AGENT = (
    "name, title, icon, description, command, args, env, cwd, mcpServers, startTimeout, permissions"
)

BROKEN: list[tuple[str, list[str]]] = [
    ("agents: [", ["1:10: error: a bracket or brace that was opened is never closed"]),
    ("theme: dark\n\tlanguage: en", ["2:1: error: a tab can't stand here: indent with spaces"]),
    ("theme: dark\n language: en", [f"2:10: {A_COLON}"]),
    ("theme: 'dark", ["1:8: error: quotes that were opened are never closed"]),
    ("theme: *dark", ["1:8: error: an alias (*) without its anchor (&): put the value in quotes"]),
    (
        "theme: dark\n---\ntheme: light",
        ["2:1: error: one document is enough: remove what follows ---"],
    ),
    (
        "theme: dark\nlanguage: \x01",
        ["2:11: error: a character that can't stand in YAML: remove it"],
    ),
    ('theme: "\\ud800"', ["1:8: error: a character that can't stand in text here"]),
    ('theme: "\\UFFFFFFFF"', [f"1:11: {NO_YAML}"]),
    ("theme: !mine dark", ["1:8: error: a tag (!) that has no meaning here: remove it"]),
    ("? [a]\n: b", ["1:3: error: a key is plain text"]),
    ("<<: 3", ["1:5: error: << takes a mapping, or a list of mappings"]),
    (
        "limits: !!int many",
        ["1:9: error: this value isn't what its tag (!!) or its look says: put it in quotes"],
    ),
    ("&a [*a]", ["1:1: error: values are nested too deeply, or without end"]),
    ("- theme", ["1:1: error: the file is a mapping of fields, such as agents: and limits:"]),
    ("just words", ["1:1: error: the file is a mapping of fields, such as agents: and limits:"]),
    (
        "theme: dark\nlanguage: en\ntheme: light",
        ["3:1: error: theme stands here a second time (first in line 1)"],
    ),
    (
        "agents:\n- name: a\n  command: agent\n  name: b",
        ["4:3: error: name stands here a second time (first in line 2)"],
    ),
    ("them: dark", ["1:1: error: unknown field them: did you mean theme?"]),
    (
        "limits:\n  maxrunningagents: 2",
        ["2:3: error: unknown field maxrunningagents: did you mean maxRunningAgents?"],
    ),
    (
        "agents:\n- {name: a, comand: x, command: agent}",
        ["2:13: error: unknown field comand: did you mean command?"],
    ),
    (
        "agents: [{name: a, command: agent, permissions: [{kin: x}]}]",
        [
            "1:50: error: kind is missing",
            "1:50: error: answer is missing",
            "1:51: error: unknown field kin: did you mean kind?",
        ],
    ),
    ("theme: 3", ["1:8: error: theme is one of: system, light, dark"]),
    ("agents: many", [f"1:9: error: agents must be a list, but is text: {AN_ENTRY}"]),
    ("agents: [a]", ["1:10: error: entry 1 of agents must be a mapping of fields, but is text"]),
    ("limits: 3", [f"1:9: error: limits must be a mapping of fields, but is {A_NUMBER}"]),
    (
        "limits: {maxRunningAgents: '3'}",
        ["1:28: error: maxRunningAgents must be a whole number, but is text: take the quotes away"],
    ),
    (
        "limits: {maxRunningAgents: true}",
        [f"1:28: error: maxRunningAgents must be a whole number, but is {A_FLAG}"],
    ),
    (
        "history: {keepUnfinished: 1}",
        [f"1:27: error: keepUnfinished must be true or false, but is {A_NUMBER}"],
    ),
    (
        "agents: [{name: no, command: agent}]",
        [f"1:17: error: name must be text, but is {A_FLAG}: put it in quotes"],
    ),
    (
        "agents: [{name: 012, command: agent}]",
        [f"1:17: error: name must be text, but is {A_NUMBER}: put it in quotes"],
    ),
    (
        "agents: [{name: 2026-01-01, command: agent}]",
        ["1:17: error: name must be text, but is a date: put it in quotes"],
    ),
    (
        "agents: [{name: a, command: agent, args: [-v, 3]}]",
        [f"1:47: error: entry 2 of args must be text, but is {A_NUMBER}: put it in quotes"],
    ),
    (
        "agents: [{name: a, command: agent, env: {PORT: 8080}}]",
        [f"1:48: error: PORT must be text, but is {A_NUMBER}: put it in quotes"],
    ),
    (
        "agents: [{name: a, command: agent, env: [PORT]}]",
        ["1:41: error: env must be a mapping, but is a list"],
    ),
    ("theme: blue", ["1:8: error: theme is one of: system, light, dark"]),
    ("language: de", ["1:11: error: language is one of: system, en, fr"]),
    ("limits: {maxRunningAgents: 0}", ["1:28: error: maxRunningAgents is at least 1"]),
    ("limits: {maxRunningAgents: 5000}", ["1:28: error: maxRunningAgents is at most 1000"]),
    (
        "limits: {stopIdleAgentsAfter: 10}",
        ["1:31: error: a duration is written as 90s, 10m, 1h30m, 0 or never"],
    ),
    (
        "limits: {stopIdleAgentsAfter: soon}",
        ["1:31: error: a duration is written as 90s, 10m, 1h30m, 0 or never"],
    ),
    ("limits: {stopIdleAgentsAfter: 99d}", ["1:31: error: possible is 1s to 30d, or never"]),
    (
        "agents: [{name: a, command: agent, startTimeout: never}]",
        ["1:50: error: possible is 1s to 1h"],
    ),
    (
        "agents: [{name: a, command: agent, startTimeout: 2h}]",
        ["1:50: error: possible is 1s to 1h"],
    ),
    (
        f"agents: [{{name: a, command: agent, title: {'t' * 65}}}]",
        ["1:43: error: title has at most 64 characters"],
    ),
    ("agents: [{name: a, command: ''}]", ["1:29: error: command may not be empty"]),
    ("agents: [{name: a b, command: agent}]", [f"1:17: {A_NAME}"]),
    ("agents: [{name: .a, command: agent}]", [f"1:17: {A_NAME}"]),
    ("agents: [{name: a., command: agent}]", [f"1:17: {A_NAME}"]),
    ("agents: [{name: '', command: agent}]", [f"1:17: {A_NAME}"]),
    (f"agents: [{{name: {'n' * 33}, command: agent}}]", [f"1:17: {A_NAME}"]),
    (
        "agents: [{name: a, command: agent}, {name: A, command: agent}]",
        ["1:44: error: a second agent named A (the first is a); case doesn't count"],
    ),
    (
        "agents: [{name: a, command: agent}, {name: Ａ, command: agent}]",
        ["1:44: error: a second agent named Ａ (the first is a); case doesn't count"],
    ),
    ("agents:\n- command: agent", ["2:3: error: name is missing"]),
    ("agents:\n- name: a", ["2:3: error: command is missing"]),
    (
        "agents: [{name: a, command: agent, mcpServers: [{name: m}]}]",
        ["1:49: error: an MCP server of type stdio needs command"],
    ),
    (
        "agents: [{name: a, command: agent, mcpServers: [{name: m, type: http}]}]",
        ["1:49: error: an MCP server of type http needs url"],
    ),
    ("agents: [{name: a, command: agent, args: ['${NOPE}']}]", [f"1:43: {UNSET}"]),
    ("agents: [{name: a, command: agent, env: {K: '${NOPE}'}}]", [f"1:45: {UNSET}"]),
    ("agents: [{name: a, command: '${NOPE}'}]", [f"1:29: {UNSET}"]),
    ("agents: [{name: a, command: agent, cwd: '${NOPE}'}]", [f"1:41: {UNSET}"]),
    (
        "agents: [{name: a, command: agent, env: {A=B: x}}]",
        ["1:47: error: a variable's name isn't empty and has no ="],
    ),
    ("agents: {", ["1:10: error: a bracket or brace that was opened is never closed"]),
    (
        "agents: [a b: c]",
        [
            "1:10: error: name is missing",
            "1:10: error: command is missing",
            f"1:10: error: unknown field a b; known here are {OF_AN_AGENT}",
        ],
    ),
    ("agents:\n- name: a\n command: x", [f"3:2: {AN_INDENTATION}"]),
    ("agents:\n\t- name: a", ["2:1: error: a tab can't stand here: indent with spaces"]),
    ('theme: "dark\nlanguage: en\n', ["1:8: error: quotes that were opened are never closed"]),
    (
        'theme: "\\q"',
        [
            (
                "1:10: error: a backslash means something else between double quotes: write two,"
                " or use single quotes"
            )
        ],
    ),
    ("theme: @dark", ["1:8: error: text can't begin with @: put it in quotes"]),
    ("theme: `x`", ["1:8: error: text can't begin with `: put it in quotes"]),
    ("theme: %x", ["1:8: error: text can't begin with %: put it in quotes"]),
    ("theme dark\nlanguage: en", [f"2:9: {A_COLON}"]),
    ("theme: a: b", [f"1:9: {A_COLON}"]),
    (
        "agents: - name: a",
        ["1:9: error: an entry of a list (-) can't begin here: put it in a line of its own"],
    ),
    ("agents:\n  - name: a\n  command: agent", [f"3:3: {AN_INDENTATION}"]),
    ("agents:\n - name: a\n   command: agent\n  title: x", [f"4:3: {AN_INDENTATION}"]),
    ("a: &x 1\nb: &x 2", ["2:4: error: an anchor (&) that stands above already: rename it"]),
    ("theme: |9x\n a", [f"1:10: {NO_YAML}"]),
    ("theme: [a, b", ["1:8: error: a list in brackets isn't closed: a comma or a ] is missing"]),
    (
        "theme: {a: b\nlanguage: en",
        ["2:9: error: a mapping in braces isn't closed: a comma or the brace is missing"],
    ),
    ("%YAML 3\n--- a", [f"1:8: {NO_YAML}"]),
    ("theme: dark\n...\nlanguage: en", [f"3:1: {AN_INDENTATION}"]),
    ("key without colon\nagents: []", [f"2:7: {A_COLON}"]),
    ("agents: [}", ["1:10: error: a value is missing here"]),
    (": x", [f"1:1: {AN_INDENTATION}"]),
    ("theme: ,", ["1:8: error: a value is missing here"]),
    ("!<", ["1:3: error: a tag (!) that has no meaning here: remove it"]),
    ("[*", [f"1:3: {NO_YAML}"]),
    ("theme: >x\n", [f"1:9: {NO_YAML}"]),
    ("“theme”: dark", ["1:1: error: unknown field “theme”: did you mean theme?"]),
    ("theme: dark # c\n# d\n  language: en", [f"3:3: {AN_INDENTATION}"]),
    ("agents:\n  - name:a\n    command: x", [f"3:12: {A_COLON}"]),
    ("limits: {maxRunningAgents: 012}", ["1:28: warning: YAML reads this as 10: write that"]),
    (
        "limits: {maxRunningAgents: 1e3}",
        [
            (
                "1:28: error: maxRunningAgents must be a whole number, but is text: write it with"
                " digits alone"
            )
        ],
    ),
    ("limits: {maxRunningAgents: 1:30}", ["1:28: warning: YAML reads this as 90: write that"]),
    (
        "history: {keepUnfinished: 'yes'}",
        ["1:27: error: keepUnfinished must be true or false, but is text: take the quotes away"],
    ),
    ("agents: {name: a}", [f"1:9: error: agents must be a list, but is a mapping: {AN_ENTRY}"]),
    (
        "maxRunningAgents: 3",
        ["1:1: error: unknown field maxRunningAgents: maxRunningAgents belongs under limits"],
    ),
    ("command: x", ["1:1: error: unknown field command: command belongs under agents"]),
    (
        "agents: [{name: a, command: $HOME/x, cwd: ~nobody/x}]",
        [
            "1:29: warning: $HOME isn't filled in: write ${HOME}",
            "1:29: warning: $HOME/x is no program that can be run: install it, or mend the path",
        ],
    ),
    (
        "agents: [{name: a, command: agent, args: x}]",
        [f"1:42: error: args must be a list, but is text: {AN_ENTRY}"],
    ),
    (
        "agents: [null]",
        ["1:10: error: entry 1 of agents must be a mapping of fields, but is empty"],
    ),
    (
        "agents:\n- name: a\n  command: nowhere",
        ["3:12: warning: nowhere isn't found on PATH: install it, or write its whole path"],
    ),
    (
        "agents: [{name: a, command: ./missing}]",
        ["1:29: warning: ./missing is no program that can be run: install it, or mend the path"],
    ),
    (
        "agents: [{name: a, command: agent, cwd: /nowhere}]",
        ["1:41: warning: there is no folder /nowhere to work in: make it, or name another"],
    ),
    (
        "agents: [{name: a, command: agent, mcpServers: [{name: m, command: nope}]}]",
        ["1:68: warning: nope isn't found on PATH: install it, or write its whole path"],
    ),
    (
        "agents: [{name: a, command: agent, permissions: [{kind: reed, answer: allow_once}]}]",
        [
            (
                "1:57: warning: no tool call of ACP is of kind reed; known are read, edit, delete,"
                " move, search, execute, think, fetch, switch_mode, other"
            )
        ],
    ),
]


def said(made: Problem) -> str:
    kind = "warning" if made.warning else "error"
    return f"{made.line}:{made.column}: {kind}: {made.message}"


@pytest.mark.parametrize(("text", "expected"), BROKEN)
def test_all_that_is_wrong_is_said_at_its_place(text: str, expected: list[str]) -> None:
    verdict = check(text, HERE)
    found = sorted(
        (*verdict.problems, *verdict.warnings), key=lambda one: (one.line or 0, one.column or 0)
    )
    assert [said(one) for one in found] == expected
    assert verdict.valid == all("warning: " in one for one in expected)


@pytest.mark.parametrize(("text", "expected"), BROKEN)
def test_it_is_said_in_french_as_well(text: str, expected: list[str]) -> None:
    verdict = check(text, HERE)
    for made in (*verdict.problems, *verdict.warnings):
        french = in_french(made)
        assert french, made.id
        assert french != made.message
        assert not any(word in french.split() for word in ("the", "must", "is", "of", "here")), (
            french
        )
