"""The history of Sidekicks: keeps what was said, and finds it.

Pure modules: records, growing, fold, closing, pages, restoring, store.
Shells: rocks, sweep, service.
"""
