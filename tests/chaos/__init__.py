"""Chaos: a real instance under load, its processes killed at random moments, and a checker.

``python -m tests.chaos --seed N``. The workload (`people`), the killer (`killer`) and the witnesses
(`witnesses`, `recorder`) gather `evidence`; the checker (`checks`) is a pure function of it.
"""
