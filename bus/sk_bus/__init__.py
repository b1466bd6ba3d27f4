"""The bus of Sidekicks: what may be said, and how it travels.

Pure modules: model, events, commands, queries, errors, codec, wire, assembly, gaps, ids, sequencer.
Shells: client, memory, broker, journal, blobs, service, paths, schema, contract.
"""
