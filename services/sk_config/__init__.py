"""The configuration file: what it may say, what it says now, and the watch over the processes.

Pure: durations, syntax, tree, schema, surroundings, definition, secrets, check, starter, record,
speech, components. Shells: files, folders, icons, recent, writing, watcher, keeper, opening,
processes, checking, service.
"""
