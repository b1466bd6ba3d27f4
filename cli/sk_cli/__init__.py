"""The command line. `main` finds a command, one file of `commands` is one command.

Which modules are shells is listed in `tests/unit/test_imports.py`; all others are pure.
"""
