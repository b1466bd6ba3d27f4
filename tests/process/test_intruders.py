"""Who must not get in, at a whole instance: other pages, other users, agents, and any bytes at all.

`docs/security.md` says what is promised; here each promise is tried. One instance for all, with an
agent that has asked for a permission and waits.
"""

import http.client
import itertools
import json
import os
import random
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as websocket

from tests.support.instance import ROOT, TestInstance
from tests.support.page_client import PageClient
from tests.support.patience import PATIENCE
from tests.support.shim_client import eventually

pytestmark = pytest.mark.process

SECRET = "a-secret-that-nobody-may-see"
NOBODY = 65_534
CONFIG = yaml.safe_dump(
    {
        "agents": [
            {
                "name": "alice",
                "command": "python3",
                "args": [str(ROOT / "tests" / "support" / "scripted_agent.py")],
                "env": {"ALICES_KEY": SECRET},
            }
        ]
    }
)


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    """An instance whose user shares everything that he can: no mask, folders open to all."""
    with TestInstance(config=CONFIG) as made:
        for folder in (".", "home", "c", "c/sidekicks", "s", "r"):
            (made.directory / folder).chmod(0o755)
        mask = os.umask(0)
        try:
            made.up()
        finally:
            os.umask(mask)
        with PageClient(made.port, made.token) as page:
            channel = page.call("Direct", agent="alice")["value"]
            page.call("Send", channel=channel, text="!bigline 20000 !permission")
            page.until(lambda page: page.of("permission:requested") != [])
        yield made


@pytest.fixture
def page(instance: TestInstance) -> Iterator[PageClient]:
    with PageClient(instance.port, instance.token) as made:
        yield made


# --- other pages: Host, Origin, method, token, route ------------------------------------------

PORT = "{port}"
HOSTS = {
    "127.0.0.1:{port}": True,
    "localhost:{port}": True,
    "[::1]:{port}": True,
    "evil.test:{port}": False,
    "127.0.0.1": False,
    "127.0.0.1:1": False,
    "127.0.0.1.evil.test:{port}": False,
    "0.0.0.0:{port}": False,
}
ORIGINS = (
    "same",
    None,
    "null",
    "http://evil.test",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:1",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
ROUTES = ("/", "/ws", "/events", "/export", "/import", "/assets/nothing.js")
TOKENS = ("none", "wrong", "of another kind", "in a cookie", "in the address")


def expected(method: str, route: str, *, host: bool, origin: str | None) -> tuple[int, ...]:
    """What one without the token is told, written down apart from the guard's own rules."""
    if not host or origin not in ("same", None):
        return (403,)
    if method not in ("GET", "HEAD"):
        return (401,)
    if route in ("/events", "/export"):
        return (401,)
    if route == "/":
        return (200, 404)  # 404 where no page is built here
    return (404, 405)


def test_whoever_lacks_the_token_gets_the_page_and_nothing_else(instance: TestInstance) -> None:
    """Every Host, Origin, method and route, each with another way to lack the token."""
    port = str(instance.port)
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=PATIENCE)
    wrong = []
    matrix = itertools.product(HOSTS, ORIGINS, METHODS, ROUTES)
    for (host, origin, method, route), token in zip(matrix, itertools.cycle(TOKENS), strict=False):
        headers = {"Host": host.format(port=port)}
        if origin is not None:
            own = f"http://{headers['Host']}"
            headers["Origin"] = own if origin == "same" else origin.format(port=port)
        path = route
        match token:
            case "wrong":
                headers["Authorization"] = f"Bearer {instance.token[:-1]}"
            case "of another kind":
                headers["Authorization"] = f"Basic {instance.token}"
            case "in a cookie":
                headers["Cookie"] = f"token={instance.token}"
            case "in the address":
                path = f"{route}?token={instance.token}"
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        allowed = expected(method, route, host=HOSTS[host], origin=origin)
        if (
            answer.status not in allowed
            or "default-src 'none'" not in (answer.headers["content-security-policy"] or "")
            or any(name.lower().startswith("access-control") for name in answer.headers)
            or instance.token.encode() in body
        ):
            wrong.append((method, route, headers, answer.status))
    connection.close()
    assert wrong == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_websocket_is_opened_for_our_own_page_alone(instance: TestInstance, host: str) -> None:
    named = host.format(port=instance.port)
    for origin in ORIGINS:
        own = f"http://{named}"
        shown = own if origin == "same" else origin and origin.format(port=instance.port)
        status = upgraded(instance.port, named, shown)
        assert status == (101 if HOSTS[host] and origin == "same" else 403), (named, shown)


def upgraded(port: int, host: str, origin: str | None) -> int:
    """The status with which an upgrade is answered."""
    lines = [
        "GET /ws HTTP/1.1",
        f"Host: {host}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    lines += [f"Origin: {origin}"] if origin is not None else []
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as talk:
        talk.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(talk.makefile("rb").readline().split()[1])


def hello_with(port: int, token: Any) -> int | None:
    """The code with which a socket is closed behind such a hello; ``None``: it is welcome."""
    with websocket(f"ws://127.0.0.1:{port}/ws", origin=f"http://127.0.0.1:{port}") as talk:  # type: ignore[arg-type]
        talk.send(json.dumps({"t": "hello", "v": 1, "token": token}))
        try:
            talk.recv(PATIENCE)
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006
    return None


def test_a_token_of_before_opens_nothing(instance: TestInstance) -> None:
    before = instance.token
    for wrong in ("", None, 5, [before], before[:-1], before + " ", before.swapcase()):
        assert hello_with(instance.port, wrong) == 4401, wrong
    assert hello_with(instance.port, before) is None
    instance.paths.token.unlink()
    instance.kill("gateway")
    eventually(lambda: instance.paths.token.exists() and instance.token != before, timeout=PATIENCE)
    eventually(lambda: answers(instance, before) == 401, timeout=PATIENCE)
    assert hello_with(instance.port, before) == 4401
    assert hello_with(instance.port, instance.token) is None
    eventually(lambda: all(instance.pids().values()), timeout=PATIENCE)


def answers(instance: TestInstance, token: str) -> int:
    """How a request with that token is answered; 0 while nobody does."""
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=PATIENCE)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/export", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    return 0


# --- other users ------------------------------------------------------------------------------


def test_another_user_can_do_nothing_with_any_file_or_socket(instance: TestInstance) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    outside = {instance.directory, instance.home, instance.config, instance.config.parent}
    outside |= {instance.directory / name for name in ("c", "s", "r", "bin")}
    paths = [path for path in instance.directory.rglob("*") if path not in outside]
    assert sum(stat.S_ISSOCK(path.lstat().st_mode) for path in paths if path.exists()) >= 9
    tried = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "tests/support/another_user.py"), str(NOBODY)],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True,
        text=True,
        check=True,
    )
    managed = {path: what for path, *what in json.loads(tried.stdout) if what}
    # The folders right below the user's own may be seen, as anybody's may; no more than that.
    tops = {str(instance.directory / name / "sidekicks") for name in ("s", "r")}
    tops.add(str(instance.directory / "c" / "sidekicks" / "data"))
    assert {path: what for path, what in managed.items() if path not in tops} == {}
    assert {what for path in tops for what in managed.get(path, [])} <= {"be seen"}


def test_no_process_shows_a_secret_in_its_command_line(instance: TestInstance) -> None:
    lines = instance.processes()
    assert len(lines) >= 9
    for line in lines.values():
        assert instance.token not in line
        assert SECRET not in line


def test_no_file_but_those_for_it_holds_the_token_or_a_secret(instance: TestInstance) -> None:
    found: dict[str, set[str]] = {"token": set(), "secret": set()}
    for path in instance.directory.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found["token"] |= {path.name} if instance.token.encode() in data else set()
            found["secret"] |= {str(path)} if SECRET.encode() in data else set()
    assert found["token"] == {"token"}
    # The file itself, the last valid one, the definition, and what its holder reads at the start.
    run = instance.paths.run
    places = {instance.config, instance.data / "configuration.json"}
    places |= {*(run / "defs").iterdir(), *run.glob("d.*")}
    assert found["secret"] <= {str(place) for place in places}


# --- agents -----------------------------------------------------------------------------------


def agents_pid(instance: TestInstance) -> int:
    (pid,) = [
        pid
        for pid, line in instance.processes().items()
        if "scripted_agent.py" in line and "shim.py" not in line
    ]
    return pid


def test_an_agent_is_handed_nothing_that_answers_for_its_user(instance: TestInstance) -> None:
    own = Path(f"/proc/{agents_pid(instance)}")
    environment = (own / "environ").read_bytes().decode().split("\0")
    names = {entry.partition("=")[0] for entry in environment}
    assert not [name for name in names if name.startswith(("SK_", "SUPERVISOR_"))]
    run = str(instance.paths.run)
    for entry in environment:
        assert instance.token not in entry
        assert run not in entry
    held = {fd.name: str(fd.readlink()) for fd in (own / "fd").iterdir()}
    assert sorted(held) == ["0", "1", "2"]
    assert all(target.startswith("pipe:") for target in held.values())
    assert not (own / "cwd").readlink().is_relative_to(run)


# --- path tricks ------------------------------------------------------------------------------

TRICKS = (
    "/",
    "/etc",
    "..",
    "../..",
    "~root/..",
    "~/..",
    "~/../..",
    "{home}/../../..",
    "{home}//..//..",
    "{home}/./../../s/sidekicks",
    "{home}/link",
    "{home}/link/default",
    "{home}/link/../../../etc",
    "/proc/self/root",
    "/proc/self/cwd",
    "{home}\0/etc",
    "{home}/%2e%2e/%2e%2e",
    "{home}/..\\..\\etc",
    "file:///etc",
    "//etc",
    "{run}",
    "{state}",
)


@pytest.mark.parametrize("trick", TRICKS)
def test_the_file_dialog_leads_nowhere_else(
    instance: TestInstance, page: PageClient, trick: str
) -> None:
    link = instance.home / "link"
    if not link.is_symlink():
        link.symlink_to(instance.directory / "s" / "sidekicks")
    named = {"home": instance.home, "run": instance.paths.run, "state": instance.paths.state}
    result = page.call("Folder", path=trick.format(**named))
    if result["ok"]:
        view = result["value"]
        tops = (instance.home, instance.config.parent)
        for path in (view["path"], *[entry["path"] for entry in view["entries"]]):
            real = Path(path).resolve()
            assert any(real.is_relative_to(top.resolve()) for top in tops), path
    else:
        assert result["problem"]["id"] in ("out-of-reach", "no-such-folder", "unreadable")


@pytest.mark.parametrize("name", ["../token", "/etc/passwd", "a" * 64, "..%2ftoken", "", "A" * 64])
def test_a_blob_is_asked_for_by_its_digest_alone(page: PageClient, name: str) -> None:
    result = page.call("Blob", sha256=name)
    assert result["ok"] is False
    assert result["problem"]["id"] == "no-such-blob"


@pytest.mark.parametrize(
    "path",
    [
        "/../token",
        "/..%2f..%2ftoken",
        "/%2e%2e/%2e%2e/web.py",
        "//etc/passwd",
        "/assets/../../web.py",
    ],
)
def test_no_address_reads_a_file_beside_the_page(instance: TestInstance, path: str) -> None:
    with socket.create_connection(("127.0.0.1", instance.port), timeout=PATIENCE) as talk:
        request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{instance.port}\r\nConnection: close\r\n\r\n"
        )
        talk.sendall(request.encode())
        answer = talk.makefile("rb").read()
    assert answer.split()[1] in (b"404", b"400")
    assert b"root:" not in answer
    assert instance.token.encode() not in answer


# --- any bytes --------------------------------------------------------------------------------


def test_no_bytes_at_any_socket_end_anything(instance: TestInstance) -> None:
    eventually(lambda: all(instance.pids().values()), timeout=PATIENCE)
    before, agent = instance.pids(), agents_pid(instance)
    sockets = [path for path in instance.directory.rglob("*") if path.is_socket()]
    chance = random.Random(7)
    openings = (
        b"",
        b"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" + bytes(48),  # ZeroMQ's greeting
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /RPC2 HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"\x10\x00\x00\x00\x10" + bytes(16),  # ATTACH, to a holder
        b"\x14\x00\x00\x00\x00",  # STOP, of one who hasn't attached
        b"\x13\xff\xff\xff\xff",
    )
    for path, opening in itertools.product(sockets, openings):
        with suppress(OSError), socket.socket(socket.AF_UNIX) as talk:
            talk.settimeout(1)
            talk.connect(str(path))
            talk.sendall(opening + chance.randbytes(chance.randrange(200)))
    for opening in openings:
        with suppress(OSError), socket.create_connection(("127.0.0.1", instance.port)) as talk:
            talk.settimeout(1)
            talk.sendall(opening + chance.randbytes(200))
    with PageClient(instance.port, instance.token) as page:
        for call in ("Current", "ListAgents", "ListChannels", "Pulse"):
            assert page.call(call)["ok"], call
        asked = page.call("Permissions")["value"]
        assert len(asked) == 1, "the agent's request is still there"
        channel = page.call("ListChannels")["value"][0]["id"]
        page.call("AnswerPermission", permission=asked[0]["id"], optionId="yes")
        page.until(lambda page: [t for t in page.of("turn:changed") if not t["busy"]] != [])
        last = page.call("Conversation", channel=channel)["value"]["messages"][-1]
    assert last["parts"][-1]["text"].rstrip().endswith("[yes]")
    assert instance.pids() == before
    assert agents_pid(instance) == agent
