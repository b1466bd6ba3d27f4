"""The command line. `main` finds a command, one file of `commands` is one command.

Pure modules: render, answers, folding, selection, moments, spans, loglines, failure. Shells: main,
invocation, choice, instances, locks, orphans, ports, starting, ending, sweeping, observing, asking,
tables, commands.
"""
