from itertools import pairwise
from pathlib import Path

from sk_agents.logbook import Entry, Logbook


def entries(inc: int, *numbers: int) -> list[Entry]:
    return [Entry(inc, number, f"line {number}") for number in numbers]


def test_the_last_200_lines_survive_us(tmp_path: Path) -> None:
    Logbook(tmp_path).add("alice", entries(1, *range(1, 501)))
    assert Logbook(tmp_path).last("alice") == tuple(f"line {k}" for k in range(301, 501))


def test_a_line_that_is_read_again_is_kept_once(tmp_path: Path) -> None:
    Logbook(tmp_path).add("alice", entries(1, 1, 2, 3))
    again = Logbook(tmp_path)
    again.add("alice", entries(1, 2, 3, 4))
    assert again.last("alice") == ("line 1", "line 2", "line 3", "line 4")


def test_the_last_words_of_one_life_are_its_own(tmp_path: Path) -> None:
    book = Logbook(tmp_path)
    book.add("alice", entries(1, 1, 2))
    book.add("alice", entries(9, 1))
    assert book.last("alice", inc=9) == ("line 1",)


def test_the_end_of_a_life_tells_few_of_its_last_words_and_none_at_length(tmp_path: Path) -> None:
    book = Logbook(tmp_path)
    book.add("alice", entries(1, 1))
    book.add("alice", [Entry(2, number, f"{number} " + "x" * 16_000) for number in range(30)])
    told = book.last_words("alice", 2)
    assert [line.split()[0] for line in told] == [f"{number}" for number in range(10, 30)]
    assert {len(line) for line in told} == {1_000}
    assert book.last_words("alice", 1) == ("line 1",)


def test_the_file_stays_bounded(tmp_path: Path) -> None:
    book = Logbook(tmp_path)
    for number in range(300):
        book.add("alice", [Entry(1, number, "x" * 10_000)])
    assert (tmp_path / "alice.log").stat().st_size < 4_100_000
    assert len(Logbook(tmp_path).last("alice")) == 200


def test_long_lines_dont_have_the_file_written_anew_each_time(tmp_path: Path) -> None:
    book = Logbook(tmp_path)
    sizes = [0]
    for number in range(600):
        book.add("alice", [Entry(1, number, "x" * 16_000)])
        sizes.append((tmp_path / "alice.log").stat().st_size)
    assert sum(after <= before for before, after in pairwise(sizes)) < 10


def test_a_line_half_written_by_a_kill_is_no_line(tmp_path: Path) -> None:
    Logbook(tmp_path).add("alice", entries(1, 1, 2))
    path = tmp_path / "alice.log"
    path.write_bytes(path.read_bytes()[:-3])
    assert Logbook(tmp_path).last("alice") == ("line 1",)


def test_an_agent_that_never_said_anything_has_no_lines(tmp_path: Path) -> None:
    assert Logbook(tmp_path).last("bob") == ()
