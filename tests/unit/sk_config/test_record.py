"""The last valid configuration, kept and taken up again."""

import json
from dataclasses import replace

import pytest

from sk_config.check import check
from sk_config.record import Record, record_of
from sk_config.surroundings import variables_in
from tests.unit.sk_config.test_check import HERE

TEXT = "agents: [{name: a, command: agent, env: {K: s3cr3t-s3cr3t}, cwd: /home/u}]"


def made() -> Record:
    verdict = check(TEXT, HERE)
    assert verdict.config is not None
    return Record(
        text="t", made="m", clean=True, config=verdict.config, definitions=verdict.definitions
    )


def test_a_record_is_read_back_whole() -> None:
    assert record_of(made().written()) == made()


def test_it_knows_the_secrets_of_what_is_in_force() -> None:
    assert record_of(made().written()).secrets == {"s3cr3t-s3cr3t"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        json.dumps({"version": 2}).encode(),
        json.dumps({"version": 1}).encode(),
        made().written()[:-10],
        made().written().replace(b'"definitions":[', b'"definitions":[7,'),
    ],
)
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        record_of(data)


def test_it_holds_as_long_as_command_and_folder_are_there() -> None:
    assert made().holds(HERE)
    assert not made().holds(replace(HERE, executable=lambda _: False))
    assert not made().holds(replace(HERE, directory=lambda _: False))


def test_variables_are_found_in_a_text() -> None:
    assert variables_in("a: ${X} $${Y} ${Z_1} ${not ok} $W") == {"X", "Z_1"}
