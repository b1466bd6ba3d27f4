"""The JSON Schema is that of the check."""

import jsonschema
import pytest
import yaml

from sk_config.check import check
from sk_config.schema import json_schema
from sk_config.starter import catalogue, starter
from tests.unit.sk_config.test_check import HERE


def _fields(schema: dict[str, object]) -> list[tuple[str, str, dict[str, object]]]:
    sections = {"File": schema, **schema["$defs"]}  # type: ignore[dict-item]
    return [
        (section, name, field)
        for section, body in sections.items()
        for name, field in body["properties"].items()  # type: ignore[index]
    ]


def test_every_field_says_what_it_means() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    lacking = [
        (section, name)
        for section, name, field in _fields(schema)
        if not field.get("description") and "$ref" not in field
    ]
    assert lacking == []


def test_durations_have_their_default_as_one_writes_it() -> None:
    defaults = {name: field.get("default") for _, name, field in _fields(json_schema())}
    assert defaults["stopIdleAgentsAfter"] == "10m"
    assert defaults["startTimeout"] == "30s"
    assert defaults["maxRunningAgents"] == 3


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("{}", True),
        ("agents: [{name: a, command: agent, env: {A: b}, startTimeout: 1h}]", True),
        ("agents: [{name: a, command: agent, env: [{name: A, value: b}]}]", True),
        ("limits: {stopIdleAgentsAfter: 0}", True),
        ("limits: {stopIdleAgentsAfter: 10 minutes}", False),
        ("limits: {maxRunningAgents: 0}", False),
        ("agents: [{name: a}]", False),
        ("theme: blue", False),
        ("unknown: 1", False),
    ],
)
def test_schema_and_check_agree(text: str, *, valid: bool) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(yaml.safe_load(text)) is valid
    assert check(text, HERE).valid is valid


def test_the_starter_fits_the_schema() -> None:
    text = starter(catalogue("[]"), lambda _: False)
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(text))
