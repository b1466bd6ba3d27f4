"""What Sidekicks promises to survive, and the tests that show it, as one table.

``python -m tests.reliability`` runs the tests of a promise and prints the table with what came of
them; ``--write`` puts it, without that, into docs/reliability.md. `disk` and `clock` are tests that
need a mount, and libfaketime: they are run by this command alone.
"""
