"""That a shared instance is whole again, and that its file is never seen half written."""

import time
from weakref import WeakKeyDictionary

from tests.support.instance import TestInstance
from tests.support.patience import PATIENCE

_whole: WeakKeyDictionary[TestInstance, dict[str, int]] = WeakKeyDictionary()


def await_whole(instance: TestInstance, *gone: int) -> None:
    """Wait until every component runs, and the processes that were killed are ``gone``."""
    deadline = time.monotonic() + PATIENCE
    while (pids := instance.pids()) != _whole.get(instance) or {*gone} & {*pids.values()}:
        said = instance.cli("status", check=False)
        if said.returncode == 0 and instance.pids() == pids and not {*gone} & {*pids.values()}:
            _whole[instance] = pids
        elif time.monotonic() > deadline:
            raise AssertionError(f"not all of it runs again\n{said.stdout}\n{instance.logs()}")


def configure(instance: TestInstance, text: str) -> None:
    """Let another program write the configuration: at once, as an empty file is a valid one."""
    fresh = instance.config.with_name("fresh.yaml")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(instance.config)
