"""The real holder, managed by the test: what an agent says and is told, over any death of ours."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sk_agents import frames, holding, shim
from tests.support.patience import PATIENCE
from tests.support.shim_client import Held, Manager, alive, eventually, held, there

pytestmark = pytest.mark.process

# Answers each line with it, twice; ends at the end of stdin.
ECHO = "import sys\nfor l in sys.stdin: print(l.strip() * 2, flush=True)"
FAST = {"eof": 0.2, "term": 0.2, "linger": 0.2}


@pytest.fixture
def life() -> Iterator[Held]:
    with held() as made:
        yield made


def python(code: str) -> tuple[str, str, str]:
    return (sys.executable, "-c", code)


def numbered(count: int) -> str:
    """A program that writes ``count`` numbered lines when it is told to, and then waits."""
    return (
        "import sys\nsys.stdin.readline()\n"
        f"for k in range({count}): print(f'line {{k:06d}}')\n"
        "sys.stdout.flush(); sys.stdin.read()"
    )


def spooled(life: Held, stream: str) -> int:
    """Bytes in the spool of ``out`` or ``err``; what is reclaimed while we look doesn't count."""
    size = 0
    for path in life.folder.glob(f"{stream}.*"):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def lines(count: int) -> bytes:
    return b"".join(b"line %06d\n" % k for k in range(count))


# --- bytes through ------------------------------------------------------------------------------


def test_a_line_goes_in_and_its_answer_comes_out(life: Held) -> None:
    life.start(*python(ECHO))
    manager = life.attach()
    manager.line(1, "ab")
    manager.until(lambda: manager.out == b"abab\n")
    assert manager.took == [1]


def test_only_the_next_line_is_taken(life: Held) -> None:
    life.start(*python(ECHO))
    manager = life.attach()
    for n in (1, 1, 3, 2):
        manager.line(n, f"n{n}")
    manager.until(lambda: manager.out.count(b"\n") == 2)
    assert manager.out == b"n1n1\nn2n2\n"
    assert manager.refused == [(1, 2), (3, 2)]


def test_a_manager_killed_in_the_middle_of_a_line_leaves_no_trace_of_it(life: Held) -> None:
    life.start(*python(ECHO))
    first = life.attach()
    whole = frames.one(frames.IN, 1, b"a whole line\n")
    first.send(whole[: len(whole) - 5])
    first.close()
    second = life.attach()
    assert second.hello is not None
    assert (second.hello.taken, second.hello.pending) == (0, 0)
    second.line(1, "a whole line")
    second.until(lambda: second.out == b"a whole linea whole line\n")


def test_a_manager_that_goes_on_from_its_offset_misses_no_byte(life: Held) -> None:
    life.start(*python(numbered(50_000)))
    first = life.attach()
    first.line(1, "go")
    first.until(lambda: len(first.out) > 100_000)
    first.close()
    second = life.attach(out=len(first.out))
    second.until(lambda: second.out.endswith(b"line 049999\n"))
    assert first.out + second.out == lines(50_000)


def test_the_newest_manager_wins(life: Held) -> None:
    life.start(*python(ECHO))
    first = life.attach()
    second = life.attach()
    first.socket.settimeout(PATIENCE)
    while not first.closed:
        first.read()
    second.line(1, "x")
    second.until(lambda: second.out == b"xx\n")


def test_one_who_has_not_attached_gives_no_orders(life: Held) -> None:
    life.start(*python(ECHO))
    manager = life.attach()
    stranger = Manager.__new__(Manager)
    import socket

    stranger.socket = socket.socket(socket.AF_UNIX)
    stranger.socket.connect(str(life.socket))
    stranger.send(frames.frame(frames.STOP))
    manager.line(1, "x")
    manager.until(lambda: manager.out == b"xx\n")
    stranger.close()


def test_bytes_that_are_no_frames_cost_only_their_connection(life: Held) -> None:
    life.start(*python(ECHO))
    manager = life.attach()
    manager.send(b"GET / HTTP/1.1\r\n\r\n")
    again = life.attach()
    again.line(1, "x")
    again.until(lambda: again.out == b"xx\n")


# --- bounds -------------------------------------------------------------------------------------


def test_a_full_spool_blocks_the_agent_until_it_is_acknowledged(life: Held) -> None:
    life.start(*python(numbered(100_000)), cap=200_000, segment=50_000)
    manager = life.attach(want=1000)
    manager.line(1, "go")
    eventually(lambda: spooled(life, "out") >= 200_000)
    manager.until(lambda: len(manager.out) == 1000)
    assert spooled(life, "out") < 300_000
    manager.want(1 << 40)
    while len(manager.out) < len(lines(100_000)):
        manager.read()
        manager.send(frames.two(frames.ACK, len(manager.out), 0))
    assert manager.out == lines(100_000)
    assert spooled(life, "out") <= 300_000


def test_no_more_is_sent_than_is_wanted(life: Held) -> None:
    life.start(*python(numbered(1000)))
    manager = life.attach(want=100)
    manager.line(1, "go")
    manager.until(lambda: len(manager.out) >= 100)
    manager.line(2, "still there")
    manager.until(lambda: manager.took == [1, 2])
    assert len(manager.out) == 100


def test_a_stdin_that_takes_nothing_blocks_neither_output_nor_the_next_manager(life: Held) -> None:
    code = "import time\nfor k in range(10**6): print(k, flush=True); time.sleep(0.05)"
    life.start(*python(code))
    first = life.attach()
    first.line(1, "x" * 1_000_000)
    first.until(lambda: first.out.count(b"\n") > 3)
    first.close()
    second = life.attach()
    assert second.hello is not None
    assert (second.hello.taken, second.hello.pending) == (0, 1)
    second.line(2, "y")
    second.until(lambda: bool(second.refused))
    assert second.took == []


def test_stderr_is_drained_and_the_oldest_of_it_dropped(life: Held) -> None:
    flood = "import os\nfor k in range(300): os.write(2, b'e' * 65536)\nos.write(1, b'done')\n"
    life.start(*python(flood + "import sys; sys.stdin.read()"), errcap=2_000_000)
    manager = life.attach()
    manager.until(lambda: manager.out == b"done")
    assert spooled(life, "err") <= 3_200_000


def test_a_holder_is_small(life: Held) -> None:
    shim_ = life.start(*python(numbered(200_000)))
    manager = life.attach()
    manager.line(1, "go")
    manager.until(lambda: manager.out.endswith(b"line 199999\n"))
    status = Path(f"/proc/{shim_.pid}/status").read_text()
    (rss,) = (int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    assert rss <= 14_000, "kB; 12 MB is the goal, and what differs by Python is left room"


# --- the end ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "field", "value"),
    [
        ("import sys; sys.exit(3)", "code", "3"),
        ("import os; os.kill(os.getpid(), 9)", "signal", "9"),
    ],
)
def test_an_end_is_told_with_its_code_or_signal(
    life: Held, code: str, field: str, value: str
) -> None:
    life.start(*python(code))
    record = life.attach().until_exit()
    assert record[field] == value
    assert record["asked"] == "0"


def test_an_end_while_nobody_is_attached_is_found_by_who_comes_later(life: Held) -> None:
    shim_ = life.start(*python("print('last words'); import sys; sys.exit(3)"))
    assert shim_.wait(PATIENCE) == 0
    life.start()
    manager = life.attach()
    record = manager.until_exit()
    assert (manager.out, record["code"]) == (b"last words\n", "3")


def test_the_end_comes_after_the_last_byte_and_the_last_line_taken_is_told(life: Held) -> None:
    life.start(*python(numbered(50_000).replace("sys.stdin.read()", "sys.exit(0)")))
    manager = life.attach(want=10)
    manager.line(1, "go")
    manager.until(lambda: len(manager.out) == 10)
    manager.want(1 << 40)
    record = manager.until_exit()
    assert manager.out == lines(50_000)
    assert (record["out"], record["taken"]) == (str(len(lines(50_000))), "1")


def test_a_stop_that_is_obeyed_leaves_nothing(life: Held) -> None:
    shim_ = life.start(*python(ECHO))
    manager = life.attach()
    agent = life.agent()
    manager.stop()
    record = manager.until_exit()
    manager.done()
    assert shim_.wait(PATIENCE) == 0
    assert (record["asked"], record["code"]) == ("1", "0")
    assert not there(agent)
    assert not life.socket.exists()


STUBBORN = (
    "import signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)  # kept over exec\n"
    "child = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
    "kids = [subprocess.Popen(child, start_new_session=own) for own in (0, 1)]\n"
    "print(*[kid.pid for kid in kids], flush=True)\n"
)


def test_the_ladder_ends_what_ignores_every_word(life: Held) -> None:
    shim_ = life.start(*python(STUBBORN + "time.sleep(600)"), **FAST)
    manager = life.attach()
    manager.until(lambda: b"\n" in manager.out)
    pids = [life.agent(), *(int(pid) for pid in manager.out.split())]
    manager.stop()
    record = manager.until_exit()
    assert record["signal"] == str(int(signal.SIGKILL))
    assert [pid for pid in pids if there(pid)] == []
    manager.done()
    assert shim_.wait(PATIENCE) == 0


def test_a_grandchild_that_holds_stdout_delays_the_end_by_no_more_than_a_moment(life: Held) -> None:
    life.start(*python(STUBBORN + "sys.exit(5)"), **FAST)
    manager = life.attach()
    record = manager.until_exit()
    assert record["code"] == "5"
    assert [pid for pid in manager.out.split() if there(int(pid))] == []


def test_a_launcher_that_ends_its_stdin_and_leaves_its_children_is_swept(life: Held) -> None:
    code = f"{sys.executable} -c 'import time; time.sleep(600)' & echo $!; wait"
    life.start("/bin/sh", "-c", code, **FAST)
    manager = life.attach()
    manager.until(lambda: b"\n" in manager.out)
    manager.stop()
    manager.until_exit()
    assert not there(int(manager.out))


def test_an_agent_that_closes_its_stdout_and_stays_is_ended(life: Held) -> None:
    life.start(*python("import os, time; os.close(1); time.sleep(600)"), **FAST)
    record = life.attach().until_exit()
    assert (record["broken"], record["asked"]) == ("1", "0")


@pytest.mark.parametrize("length", [10, 1_000_000], ids=["later", "amid a line"])
def test_an_agent_that_closes_its_stdin_and_stays_is_ended(life: Held, length: int) -> None:
    code = "import os, time; os.read(0, 1); os.close(0); print('deaf', flush=True); time.sleep(600)"
    life.start(*python(code), **FAST)
    manager = life.attach()
    manager.line(1, "x" * length)
    manager.until(lambda: manager.out == b"deaf\n")
    if length == 10:  # a pipe takes what is written before its end is closed
        manager.line(2, "more")
    record = manager.until_exit()
    assert (record["broken"], record["asked"]) == ("1", "0")
    assert record["taken"] == ("1" if length == 10 else "0")


def test_an_agent_that_nobody_asks_for_is_ended(life: Held) -> None:
    shim_ = life.start(*python(ECHO), idle=0.3, **FAST)
    agent = life.agent()
    assert shim_.wait(PATIENCE) == 0
    assert not there(agent)
    life.start()
    assert life.attach().until_exit()["unattended"] == "1"


def test_an_open_turn_has_a_patience_of_its_own(life: Held) -> None:
    # The other way round than it is outside: so no holder gives up before it was told anything.
    shim_ = life.start(*python(numbered(3)), idle=3600, turn=0.05, **FAST)
    manager = life.attach()
    for is_open in (True, False):
        manager.turn(is_open=is_open)
    manager.line(1, "go")
    manager.until(lambda: manager.took == [1])
    manager.close()
    with pytest.raises(subprocess.TimeoutExpired):
        shim_.wait(0.5)
    again = life.attach()
    again.turn(is_open=True)
    again.close()
    assert shim_.wait(PATIENCE) == 0


def test_sigterm_to_a_holder_runs_the_ladder(life: Held) -> None:
    shim_ = life.start(*python(ECHO), **FAST)
    manager = life.attach()
    shim_.send_signal(signal.SIGTERM)
    assert manager.until_exit()["code"] == "0"


def test_what_a_terminal_sends_when_it_closes_does_nothing(life: Held) -> None:
    shim_ = life.start(*python(ECHO))
    manager = life.attach()
    for number in (signal.SIGHUP, signal.SIGINT):
        shim_.send_signal(number)
    manager.line(1, "x")
    manager.until(lambda: manager.out == b"xx\n")


# --- a holder that is lost ----------------------------------------------------------------------


def test_a_lost_holders_agent_is_killed_and_what_it_said_is_kept(life: Held) -> None:
    first = life.start(*python(STUBBORN + "time.sleep(600)"))
    manager = life.attach()
    manager.line(1, "never read")
    manager.until(lambda: b"\n" in manager.out and manager.took == [1])
    pids = [life.agent(), *(int(pid) for pid in manager.out.split())]
    first.kill()
    first.wait()
    assert all(alive(pid) for pid in pids)
    life.start()
    second = life.attach()
    record = second.until_exit()
    assert (record["lost"], record["taken"]) == ("1", "1")
    assert second.out == manager.out
    eventually(lambda: not any(alive(pid) for pid in pids))


def test_a_pid_that_names_another_process_now_is_left_alone(life: Held) -> None:
    first = life.start(*python(ECHO))
    agent = life.agent()
    first.kill()
    first.wait()
    record = frames.record_from((life.folder / "agent").read_bytes())
    other = subprocess.Popen(["sleep", "600"], start_new_session=True)
    # Both may have begun within one tick of the system's clock.
    earlier = int(record["started"]) - 1
    named = frames.record({**record, "pid": other.pid, "started": earlier})
    (life.folder / "agent").write_bytes(named)
    life.start()
    life.attach().until_exit()
    assert alive(other.pid)
    other.kill()
    other.wait()
    eventually(lambda: not alive(agent))


def test_the_agent_of_a_life_that_is_called_the_same_elsewhere_lives_on(life: Held) -> None:
    with held() as other:
        other.start(*python(ECHO))
        life.start(*python(ECHO))
        kept, lost = other.agent(), life.agent()
        life.shims[0].kill()
        life.shims[0].wait()
        life.start()
        assert life.attach().until_exit()["lost"] == "1"
        eventually(lambda: not alive(lost))
        assert alive(kept)


# --- the start ----------------------------------------------------------------------------------


def test_a_second_holder_of_a_folder_ends_and_starts_nothing(life: Held) -> None:
    life.start(*python(ECHO))
    agent = life.agent()
    assert life.start(*python(ECHO)).wait(PATIENCE) == holding.LOCKED
    assert life.agent() == agent
    manager = life.attach()
    manager.line(1, "x")
    manager.until(lambda: manager.out == b"xx\n")


def test_a_manager_killed_while_it_describes_the_agent_starts_none(life: Held) -> None:
    description = frames.description(
        path=b"/bin/true", cwd=b"/", umask=0o22, arguments=[b"true"], environment=[b"A=1", b"B=2"]
    )
    for cut in (description[:-7], description[:-1]):
        ended = subprocess.run(
            [sys.executable, "-I", "-S", shim.__file__, str(life.folder), str(life.socket)],
            input=cut,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        assert ended.returncode == 1
    assert not (life.folder / "agent").exists()
    assert (
        "breaks off" in (life.folder / "shim.log").read_text()
        or "too early" in (life.folder / "shim.log").read_text()
    )


@pytest.mark.parametrize(
    ("command", "cwd", "step", "error"),
    [
        ("/nonexistent/program", "/", "exec", "ENOENT"),
        ("plain", "/", "exec", "EACCES"),
        ("empty", "/", "exec", "ENOEXEC"),
        ("/bin/true", "/nonexistent", "cwd", "ENOENT"),
    ],
)
def test_a_start_that_fails_is_told_as_an_end(
    life: Held, command: str, cwd: str, step: str, error: str
) -> None:
    import errno

    (life.root / "plain").write_text("no program")
    (life.root / "empty").touch(mode=0o700)
    life.start(str(life.root / command), cwd=Path(cwd))
    manager = life.attach()
    record = manager.until_exit()
    assert (record["failed"], int(record["errno"])) == (step, getattr(errno, error))
    assert manager.hello is not None
    assert manager.hello.pid == 0


def test_an_agent_gets_its_surroundings_and_nothing_of_ours(life: Held) -> None:
    code = (
        "import json, os, signal, sys\n"
        "umask = os.umask(0)\n"
        "fds = sorted(int(fd) for fd in os.listdir('/proc/self/fd'))\n"
        "ignored = [n for n in (1, 2, 15, 17, 25) if signal.getsignal(n) == signal.SIG_IGN]\n"
        "print(json.dumps([dict(os.environ), os.getcwd(), umask, len(fds), ignored,"
        " os.getsid(0) == os.getpid()]))"
    )
    life.start(*python(code), env={"KEY": "välue"}, cwd=Path("/usr"))
    manager = life.attach()
    manager.until_exit()
    environment, cwd, umask, descriptors, ignored, leads = json.loads(manager.out)
    assert environment["KEY"] == "välue"
    assert [name for name in environment if name.startswith("SK_")] == []
    # 0, 1, 2, and the one that lists them.
    assert (cwd, umask, descriptors, ignored, leads) == ("/usr", 0o022, 4, [25], True)


def test_nothing_of_a_life_can_be_read_by_others(life: Held) -> None:
    life.start(*python(ECHO))
    manager = life.attach()
    manager.line(1, "x")
    manager.until(lambda: manager.out == b"xx\n")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in life.folder.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(life.socket.stat().st_mode) & 0o077 == 0


def test_secrets_stand_on_no_command_line(life: Held) -> None:
    shim_ = life.start(*python(ECHO), env={"TOKEN": "s3cret-value"})
    life.attach()
    for pid in (shim_.pid, life.agent()):
        assert b"s3cret" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_system_that_can_start_no_process_is_an_error_not_a_crash(life: Held) -> None:
    description = frames.description(
        path=b"/bin/true", cwd=b"/", umask=0o22, arguments=[b"true"], environment=[]
    )
    command = [sys.executable, "-I", "-S", shim.__file__, str(life.folder), str(life.socket)]
    shim_ = subprocess.Popen(
        ["/bin/sh", "-c", 'ulimit -n 12 && exec "$0" "$@"', *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    life.shims.append(shim_)
    assert shim_.stdin is not None
    shim_.stdin.write(description)
    shim_.stdin.close()
    record = life.attach().until_exit()
    assert (record["failed"], os.strerror(int(record["errno"]))) == ("fork", "Too many open files")
