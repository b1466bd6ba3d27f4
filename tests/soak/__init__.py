"""Steady work on a whole instance, for as long as one likes: ``make soak MINUTES=60``.

What is looked at is what it uses while it rests between two rounds: memory, descriptors, disk.
"""
