"""The configuration file: what it may say, what it says now, and the watch over the processes.

Pure: durations, tree, schema, surroundings, definition, secrets, check, starter, record, speech,
components. Shells: files, recent, watcher, keeper, processes, service.
"""
