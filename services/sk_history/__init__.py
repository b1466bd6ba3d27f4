"""The history of Sidekicks: keeps what was said, and finds it.

Pure modules: records, growing, fold, closing, pages, store. Shells: rocks, sweep, service.
"""
