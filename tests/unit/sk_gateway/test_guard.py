"""Who may speak with the gateway: the table of Host, Origin and kind of request."""

import pytest

from sk_gateway.guard import HEADERS, Guard

GUARD = Guard(port=8765, token="secret-token")
OURS = "127.0.0.1:8765"


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8765", True),
        ("localhost:8765", True),
        ("LOCALHOST:8765", True),
        ("[::1]:8765", True),
        ("127.0.0.1:8766", False),
        ("127.0.0.1", False),
        ("evil.test:8765", False),
        ("evil.test", False),
        ("127.0.0.1.evil.test:8765", False),
        ("127.0.0.1:8765, evil.test", False),
        ("192.168.1.2:8765", False),
        ("", False),
    ],
)
def test_the_host_must_be_a_loopback_name_with_our_port(host: str, *, allowed: bool) -> None:
    refused = GUARD.request({"host": host})
    assert (refused is None) is allowed
    assert allowed or refused.status == 403


@pytest.mark.parametrize(
    ("origin", "request_allowed", "upgrade_allowed"),
    [
        ("http://127.0.0.1:8765", True, True),
        (None, True, False),
        ("null", False, False),
        ("http://localhost:8765", False, False),  # ours, but not of this Host
        ("https://127.0.0.1:8765", False, False),
        ("http://127.0.0.1:3000", False, False),
        ("http://evil.test", False, False),
        ("http://127.0.0.1:8765.evil.test", False, False),
        ("", False, False),
    ],
)
def test_the_origin_must_be_the_host_itself(
    origin: str | None, *, request_allowed: bool, upgrade_allowed: bool
) -> None:
    headers = {"host": OURS} if origin is None else {"host": OURS, "origin": origin}
    assert (GUARD.request(headers) is None) is request_allowed
    assert (GUARD.upgrade(headers) is None) is upgrade_allowed


def test_our_own_origin_does_not_excuse_a_foreign_host() -> None:
    headers = {"host": "evil.test:8765", "origin": "http://evil.test:8765"}
    assert GUARD.upgrade(headers).status == 403


@pytest.mark.parametrize(
    ("authorization", "allowed"),
    [
        ("Bearer secret-token", True),
        ("bearer secret-token", True),
        ("Bearer secret-toke", False),
        ("Bearer ", False),
        ("Basic secret-token", False),
        ("secret-token", False),
        ("Bearer sécret", False),
        ("", False),
    ],
)
def test_a_program_shows_the_token(authorization: str, *, allowed: bool) -> None:
    refused = GUARD.bearer({"authorization": authorization})
    assert (refused is None) is allowed
    assert allowed or refused.status == 401


def test_a_token_of_strange_characters_is_wrong_and_nothing_worse() -> None:
    assert not GUARD.knows("\ud800é")


def test_the_policy_lets_scripts_come_from_us_alone() -> None:
    policy = dict(HEADERS)["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
