"""The command line. `main` finds a command, one file of `commands` is one command.

Pure modules: render, answers, selection, spans. Shells: main, invocation, choice, instances,
starting, ending, asking, tables, commands.
"""
