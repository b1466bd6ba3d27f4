"""The holder of one agent, as a program: ``python -I -S shim.py FOLDER SOCKET [name=number ...]``.

It ends with 75 when another holds the folder. A program is compiled anew at each start, which a
module isn't: so nothing but the way to the module stands here, and a holder stays small.
"""

# pathlib would cost each holder another megabyte.
# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import os
import sys

if not __package__:  # started as a program, isolated: only this tells where the rest lies
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from sk_agents.holding import main

if __name__ == "__main__":
    main()
