"""Permission rules: the first that fits answers with an option of the agent's, or a person does."""

from dataclasses import replace
from typing import Any

import pytest

from sk_bus.commands import Cancel
from sk_bus.events import PermissionRequested, PermissionResolved
from sk_bus.model import Diff, Location, PermissionOption, PermissionRule, ToolCall
from sk_router.channels.ruling import command_of, fits, ruling, worded
from tests.support.playbook import Playbook, agent, chunk, configured, permission

RUN = ToolCall(id="t", kind="execute", input='{"command":"git status"}')
EDIT = ToolCall(id="t", kind="edit", locations=(Location(path="/home/alice/src/a.py"),))
YES = PermissionRule(kind="execute", answer="allow_once")


def options(*kinds: str) -> tuple[PermissionOption, ...]:
    return tuple(
        PermissionOption(optionId=f"{kind}-{n}", name=kind.title(), kind=kind)
        for n, kind in enumerate(kinds)
    )


def chosen(rules: list[PermissionRule], tool: ToolCall, *kinds: str) -> tuple[str, int] | None:
    made = ruling(agent("alice", permissions=tuple(rules)), tool, options(*kinds))
    return None if made is None else (made.option.optionId, made.number)


@pytest.mark.parametrize(
    ("rule", "tool", "fit"),
    [
        (YES, RUN, True),
        (YES, EDIT, False),
        (replace(YES, command="git *"), RUN, True),
        (replace(YES, command="npm *"), RUN, False),
        (replace(YES, command="*"), replace(RUN, input=""), False),
        (replace(YES, command="*"), replace(RUN, title="git status", input="{}"), False),
        (replace(YES, path="/home/**"), RUN, False),
        (replace(YES, kind="edit", path="src/*"), EDIT, True),
        (replace(YES, kind="edit", path="src/*"), replace(EDIT, locations=()), False),
        (replace(YES, kind="edit", path="src/*", command="*"), EDIT, False),
        (replace(YES, kind="other"), replace(RUN, kind="_purge"), True),
        (replace(YES, kind="_purge"), replace(RUN, kind="_purge"), True),
        (replace(YES, kind="other"), RUN, False),
    ],
)
def test_a_rule_fits_by_all_that_it_says(rule: PermissionRule, tool: ToolCall, fit: bool) -> None:
    assert fits(rule, tool, "/home/alice") is fit


def test_every_path_of_the_call_must_fit() -> None:
    rule = replace(YES, kind="edit", path="src/**")
    elsewhere = Location(path="/etc/passwd")
    assert not fits(rule, replace(EDIT, locations=(*EDIT.locations, elsewhere)), "/home/alice")
    hidden = Diff(path="/etc/passwd", newText="x")
    assert not fits(rule, replace(EDIT, diffs=(hidden,)), "/home/alice")


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ('{"command":"git log","description":"x"}', "git log"),
        ('{"command":"ls","args":["-l","a b"]}', "ls -l 'a b'"),
        ('{"command":["git","log"]}', "git log"),
        ('{"command":["bash","-lc","git log"]}', "git log"),
        ('{"command":["bash","-c","git log","x"]}', "bash -c 'git log' x"),
        ('{"command":["git",1]}', None),
        ('{"command":"ls","args":[1]}', None),
        ('{"command":""}', None),
        ('{"command":[]}', None),
        ('{"cmd":"git log"}', None),
        ('["git"]', None),
        ("git log", None),
        ("{", None),
        ("", None),
    ],
)
def test_a_command_is_known_where_the_input_says_it(given: str, command: str | None) -> None:
    assert command_of(replace(RUN, input=given)) == command


def test_the_first_rule_that_fits_decides() -> None:
    never = PermissionRule(kind="execute", command="git *", answer="reject_once")
    assert chosen([never, YES], RUN, "allow_once", "reject_once") == ("reject_once-1", 1)
    assert chosen([YES, never], RUN, "allow_once", "reject_once") == ("allow_once-0", 1)
    assert chosen([replace(YES, kind="edit"), YES], RUN, "allow_once") == ("allow_once-0", 2)


def test_of_several_options_of_the_kind_the_first_is_taken() -> None:
    assert chosen([YES], RUN, "allow_always", "allow_once", "allow_once") == ("allow_once-1", 1)


def test_an_option_that_isnt_offered_is_not_made_up() -> None:
    assert chosen([YES], RUN, "allow_always", "reject_once") is None
    assert chosen([YES, replace(YES, answer="reject_once")], RUN, "reject_once") is None


# --- through the router ---------------------------------------------------------------------


def ruled(*rules: PermissionRule) -> Playbook:
    p = Playbook(agent("alice", permissions=rules))
    p.prompted("alice")
    return p


def ask(p: Playbook, **tool: Any) -> None:
    call = {"kind": "execute", "title": "git status", "rawInput": {"command": "git status"}} | tool
    p.writes("alice", permission(7, ("yes", "allow_once"), ("no", "reject_once"), **call))


def test_a_request_that_fits_is_answered_without_asking_and_the_channel_says_so() -> None:
    p = ruled(replace(YES, command="git status*"))
    ask(p)
    assert p.of(PermissionRequested) == []
    assert p.sent("alice") == [
        {
            "jsonrpc": "2.0",
            "id": 7,
            "result": {"outcome": {"outcome": "selected", "optionId": "yes"}},
        }
    ]
    (resolved,) = p.of(PermissionResolved)
    assert (resolved.by, resolved.optionId) == ("rule", "yes")
    (said,) = [one for one in p.messages().values() if one.get("code") == "permission-ruled"]
    rule = "(kind: execute, command: git status*, answer: allow_once)"
    told = f"git status was answered with “Yes” by rule 1 of alice {rule}"
    assert (said["agent"], said["error"]["message"]) == ("alice", told)
    (question, *_) = p.messages()
    assert said["during"] == question
    assert p.state.asks == {}


def test_one_that_fits_no_rule_is_asked_as_usual() -> None:
    p = ruled(replace(YES, command="git status"))
    ask(p, rawInput={"command": "git push"})
    assert len(p.of(PermissionRequested)) == 1
    assert p.sent("alice") == []


def test_what_was_said_of_the_call_before_counts() -> None:
    p = ruled(replace(YES, command="git status"))
    p.updates(
        "alice",
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "t1",
            "title": "status",
            "kind": "execute",
            "rawInput": {"command": "git status"},
        },
    )
    p.writes("alice", permission(7, ("yes", "allow_once")))
    assert len(p.of(PermissionResolved)) == 1


def test_a_refusal_by_a_rule_counts_among_the_rejections() -> None:
    p = ruled(PermissionRule(kind="execute", command="rm **", answer="reject_once"))
    ask(p, rawInput={"command": "rm -r /"})
    ask(p, rawInput={"command": "git push"})
    (asked,) = p.of(PermissionRequested)
    assert asked.rejections == 1


def test_a_request_after_stop_is_cancelled_and_no_rule_answers() -> None:
    p = ruled(YES)
    (channel,) = p.state.channels
    p.updates("alice", chunk("I "))
    p.command(Cancel, channel=channel)
    ask(p)
    assert p.sent("alice") == [
        {"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "cancelled"}}}
    ]
    assert p.of(PermissionResolved) == []


def test_a_new_rule_answers_what_waits_already() -> None:
    p = ruled()
    ask(p)
    (asked,) = p.of(PermissionRequested)
    p.give(configured(agent("alice", permissions=(YES,))))
    (resolved,) = p.of(PermissionResolved)
    assert (resolved.id, resolved.by) == (asked.id, "rule")
    assert len(p.sent("alice")) == 1


def test_an_answer_of_a_rule_that_reached_nobody_is_said_so() -> None:
    p = ruled(YES)
    ask(p)
    p.exits("alice", code=1, asked=False, taken=p.last_n("alice") - 1)
    (lost,) = p.of(PermissionResolved)
    assert (lost.by, lost.delivered) == ("rule", False)


def test_a_rule_is_worded_as_it_stands_in_the_file() -> None:
    rule = PermissionRule(kind="edit", path="src/**", answer="allow_always")
    assert worded(rule) == "kind: edit, path: src/**, answer: allow_always"
