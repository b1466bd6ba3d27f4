"""The check alone, for a file that no running Sidekicks is asked about.

``python -m sk_config.checking FOLDER`` reads a configuration's text from stdin, as it would stand
in FOLDER, and prints what is to be said of it as JSON: the answer that ``Validate`` gives.
"""

import json
import sys
from pathlib import Path

from sk_bus.codec import plain
from sk_bus.queries import Checked
from sk_config.check import check
from sk_config.keeper import surroundings_of


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    text = sys.stdin.buffer.read().decode("utf-8-sig")
    verdict = check(text, surroundings_of(folder / "sidekicks.yaml"))
    checked = Checked(problems=verdict.problems, warnings=verdict.warnings)
    sys.stdout.write(json.dumps(plain(checked)))


if __name__ == "__main__":
    main()
