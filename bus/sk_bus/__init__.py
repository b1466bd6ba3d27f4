"""The bus of Sidekicks: what may be said, and how it travels.

Pure modules: model, events, commands, internal, queries, vocabulary, errors, codec, wire, contract,
ids, admission, assembly, gaps, retention, sequencer. Shells: client, link, memory, broker, journal,
blobs, failpoints, process, service, paths, schema, supervisor.
"""
